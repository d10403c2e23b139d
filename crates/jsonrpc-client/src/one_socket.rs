//! A connector for hyper-util's pooled client that has one socket to give.
//!
//! The pool asks for a second connection when the first is not back yet, which may be so although its reply has been read to the end. That
//! request waits: either the first connection comes back and is used, or it has ended and the call fails.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tower::Service;

/// Clones give the same socket, once.
#[derive(Clone)]
pub struct OneSocket {
    state: Arc<State>,
}

struct State {
    socket: Mutex<Option<TcpStream>>,
    ended: AtomicBool,
    changed: Notify,
}

impl OneSocket {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            state: Arc::new(State {
                socket: Mutex::new(Some(stream)),
                ended: AtomicBool::new(false),
                changed: Notify::new(),
            }),
        }
    }

    /// A reply has come: whatever still waits for a second connection waits in vain, in a task of the pool's.
    pub fn end_waiting(&self) {
        self.state.changed.notify_waiters();
    }
}

impl Service<Uri> for OneSocket {
    type Response = Socket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        let state = self.state.clone();
        Box::pin(async move {
            let stream = state.socket.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(stream) = stream {
                return Ok(Socket {
                    io: TokioIo::new(stream),
                    state,
                });
            }
            let mut changed = pin!(state.changed.notified());
            changed.as_mut().enable();
            if !state.ended.load(Ordering::Acquire) {
                changed.await;
            }
            Err(io::Error::new(io::ErrorKind::ConnectionReset, "the connection has ended"))
        })
    }
}

/// The socket, which says when it is closed.
pub struct Socket {
    io: TokioIo<TcpStream>,
    state: Arc<State>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Release);
        self.state.changed.notify_waiters();
    }
}

impl Connection for Socket {
    fn connected(&self) -> Connected {
        self.io.connected()
    }
}

impl Read for Socket {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Socket {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }
}
