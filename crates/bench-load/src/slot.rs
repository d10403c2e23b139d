//! Time limits of calls that block their thread.
//!
//! Nobody can drop a call that a thread waits in. Its socket is shut down instead, by the thread that watches: the wait then ends at once,
//! whatever the library makes of it. Limits hold for a call as a whole, at no cost but one exchange of a word per call.

use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bench_host::SharedSocket;

use crate::watch::{CutOff, Doing, Look, Watch};

/// What a thread is doing, in one word: one of these, or the instant at which its call was made.
const NOTHING: u64 = 0;
const RECONNECTING: u64 = 1;
/// It was cut off in what it does, and does not know yet.
const CUT: u64 = 2;

/// A caller's thread, as the thread that watches over it sees it. On its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Slot {
    doing: AtomicU64,
    /// The latest socket of the caller; the lock also keeps a cut-off from meeting the wrong one.
    socket: Mutex<Option<SharedSocket>>,
    /// Ends a pause early.
    cut: Condvar,
}

impl Slot {
    /// Keeps the socket that the caller is about to use.
    ///
    /// # Errors
    /// When the caller was cut off meanwhile.
    pub fn hold(&self, socket: SharedSocket) -> io::Result<()> {
        let mut held = self.lock();
        if self.is_cut() {
            return Err(io::Error::other("given up"));
        }
        *held = Some(socket);
        Ok(())
    }

    /// Sleeps, at most until it is cut off.
    pub fn pause(&self, time: Duration) {
        // However it ends, the caller looks for itself.
        let _ = self.cut.wait_timeout_while(self.lock(), time, |_| !self.is_cut());
    }

    pub fn is_cut(&self) -> bool {
        self.doing.load(Ordering::Acquire) == CUT
    }

    /// Cuts off what has taken too long: the call, or the pause before a reconnect. By the watching thread.
    pub fn look(&self, look: &Look) {
        let seen = self.doing.load(Ordering::Acquire);
        let doing = match seen {
            NOTHING | CUT => return,
            RECONNECTING => Doing::Reconnecting,
            made => Doing::Calling(made),
        };
        if !look.is_too_long(doing) {
            return;
        }
        let socket = self.lock();
        // Only what was seen: the call may just have ended, and the next one is young.
        if self.doing.compare_exchange(seen, CUT, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            if let Some(socket) = &*socket {
                socket.shut_down(Shutdown::Both);
            }
            self.cut.notify_all();
        }
    }

    #[inline]
    fn end(&self) -> Result<(), CutOff> {
        match self.doing.swap(NOTHING, Ordering::AcqRel) {
            CUT => Err(CutOff),
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<SharedSocket>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Arc<Slot> {
    #[inline]
    async fn call<'a, F: Future>(&'a self, made_ns: u64, future: Pin<&'a mut F>) -> Result<F::Output, CutOff> {
        self.doing.store(made_ns, Ordering::Release);
        let output = future.await;
        self.end()?;
        Ok(output)
    }

    async fn reconnect<'a, F: Future>(&'a self, future: Pin<&'a mut F>) -> Result<F::Output, CutOff> {
        self.doing.store(RECONNECTING, Ordering::Release);
        let output = future.await;
        self.end()?;
        Ok(output)
    }
}
