//! Many calls at once on a connection, told apart by request ids.
//!
//! Callers add their frames to the outbox and wait; one task per connection sends all that has been added by one system call and gives
//! every reply that has come to its caller.

use std::cell::RefCell;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use bench_core::codec::Codec;
use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_core::message::BenchmarkMessage;
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Settings, Target};
use bytes::Bytes;
use tcp_api::mux::{Inbox, Outbox};
use tokio::net::TcpStream;

use crate::connection::read_failure;

/// Messages of one codec.
pub struct MuxEcho<C>(Mux<BenchmarkMessage>, PhantomData<C>);

/// Opaque bytes.
#[derive(Clone)]
pub struct MuxOpaque(Mux<Bytes>);

/// A connection whose replies are of type `T`; clones share it.
struct Mux<T>(Rc<RefCell<State<T>>>);

struct State<T> {
    outbox: Outbox,
    /// By request id.
    calls: Vec<Slot<T>>,
    free: Vec<usize>,
    /// Of the task that sends and receives, while it waits.
    driver: Option<Waker>,
    /// Why the connection is of no more use.
    lost: Option<CallError>,
}

enum Slot<T> {
    Free,
    Waiting(Option<Waker>),
    Answered(CallResult<T>),
    /// Its caller gave up; the id is free once the reply has come.
    GivenUp,
}

impl<C> Clone for MuxEcho<C> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<T> Clone for Mux<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: 'static> Mux<T> {
    async fn open(target: &Target, decode: fn(&[u8]) -> CallResult<T>) -> CallResult<Self> {
        let stream = target.dial().await?;
        let state = Rc::new(RefCell::new(State {
            outbox: Outbox::default(),
            calls: Vec::new(),
            free: Vec::new(),
            driver: None,
            lost: None,
        }));
        tokio::task::spawn_local(drive(stream, Rc::downgrade(&state), decode));
        Ok(Self(state))
    }

    async fn call(&self, fill: impl FnOnce(&mut Vec<u8>)) -> CallResult<T> {
        let id = self.0.borrow_mut().begin(fill)?;
        let call = Call { state: &self.0, id };
        poll_fn(|context| call.state.borrow_mut().poll(id, context)).await
    }
}

/// A call under way. Dropping it gives it up.
struct Call<'a, T> {
    state: &'a RefCell<State<T>>,
    id: usize,
}

impl<T> Drop for Call<'_, T> {
    fn drop(&mut self) {
        let state = &mut *self.state.borrow_mut();
        let slot = &mut state.calls[self.id];
        match slot {
            Slot::Waiting(_) if state.lost.is_none() => *slot = Slot::GivenUp,
            _ => {
                *slot = Slot::Free;
                state.free.push(self.id);
            }
        }
    }
}

impl<T> State<T> {
    /// Puts a call into the outbox and says its id.
    fn begin(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> CallResult<usize> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.calls.push(Slot::Free);
            self.calls.len() - 1
        });
        if let Err(length) = self.outbox.add(id as u64, fill) {
            self.free.push(id);
            let text = format!("a frame of {length} bytes is over the limit of {}", tcp_api::FRAME_LIMIT);
            return Err(CallError::of_call(FailureKind::Limit, text));
        }
        self.calls[id] = Slot::Waiting(None);
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
        Ok(id)
    }

    fn poll(&mut self, id: usize, context: &mut Context<'_>) -> Poll<CallResult<T>> {
        match &mut self.calls[id] {
            Slot::Waiting(waker) => {
                if !waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                    *waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
            slot => match std::mem::replace(slot, Slot::Free) {
                Slot::Answered(reply) => Poll::Ready(reply),
                _ => Poll::Ready(Err(CallError::fatal(FailureKind::Other, "a call was polled after its end"))),
            },
        }
    }

    fn answer(&mut self, id: u64, reply: impl FnOnce() -> CallResult<T>) -> CallResult<()> {
        let slot = usize::try_from(id).ok().and_then(|id| self.calls.get_mut(id));
        match slot {
            Some(slot @ Slot::Waiting(_)) => {
                if let Slot::Waiting(Some(waker)) = std::mem::replace(slot, Slot::Answered(reply())) {
                    waker.wake();
                }
                Ok(())
            }
            Some(slot @ Slot::GivenUp) => {
                *slot = Slot::Free;
                self.free.push(id as usize);
                Ok(())
            }
            _ => Err(CallError::fatal(
                FailureKind::Protocol,
                format!("the server answered request {id}, which is not under way"),
            )),
        }
    }

    /// Sends and receives what can be without waiting.
    fn advance(&mut self, io: &mut Io<T>, context: &mut Context<'_>) -> CallResult<()> {
        if let Poll::Ready(Err(error)) = self.outbox.poll_flush(&io.stream, context) {
            return Err(error.into());
        }
        loop {
            let mut taken = Ok(());
            let mut take = |id, body: &[u8]| {
                if taken.is_ok() {
                    taken = self.answer(id, || (io.decode)(body));
                }
            };
            match io.inbox.poll_receive(&io.stream, context, &mut take) {
                Poll::Ready(received) => received.map_err(read_failure)?,
                Poll::Pending => return Ok(()),
            }
            taken?;
        }
    }

    fn lose(&mut self, error: &CallError) {
        self.lost = Some(error.clone());
        for slot in &mut self.calls {
            if let Slot::Waiting(waker) = slot {
                let waker = waker.take();
                *slot = Slot::Answered(Err(error.clone()));
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }
}

struct Io<T> {
    stream: TcpStream,
    inbox: Inbox,
    decode: fn(&[u8]) -> CallResult<T>,
}

/// Serves a connection until it fails or nobody has it any more.
async fn drive<T>(stream: TcpStream, state: Weak<RefCell<State<T>>>, decode: fn(&[u8]) -> CallResult<T>) {
    let mut io = Io {
        stream,
        inbox: Inbox::default(),
        decode,
    };
    poll_fn(|context| {
        let Some(state) = state.upgrade() else {
            return Poll::Ready(());
        };
        let state = &mut *state.borrow_mut();
        match state.advance(&mut io, context) {
            Ok(()) => {
                state.driver = Some(context.waker().clone());
                Poll::Pending
            }
            Err(error) => {
                state.lose(&error);
                Poll::Ready(())
            }
        }
    })
    .await;
}

impl<T> Drop for State<T> {
    /// The driver looks once more, and ends.
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

impl<C: Codec<BenchmarkMessage>> Connect for MuxEcho<C> {
    const WIRE: Wire = Wire::new("tcp+mux", C::NAME);
    const SHARE: Option<fn(&Self) -> Self> = Some(Clone::clone);

    async fn connect(target: &Target) -> CallResult<Self> {
        let decode = |bytes: &[u8]| C::decode(bytes).map_err(|error| CallError::fatal(FailureKind::Protocol, error.to_string()));
        Ok(Self(Mux::open(target, decode).await?, PhantomData))
    }

    fn settings(lane: Lane) -> Settings {
        crate::settings(lane)
    }
}

impl<C: Codec<BenchmarkMessage>> EchoCalls for MuxEcho<C> {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        self.0.call(move |frame| C::encode(&request, frame)).await
    }
}

impl Connect for MuxOpaque {
    const WIRE: Wire = Wire::new("tcp+mux", "opaque");
    const SHARE: Option<fn(&Self) -> Self> = Some(Clone::clone);

    async fn connect(target: &Target) -> CallResult<Self> {
        Mux::open(target, |bytes| Ok(Bytes::copy_from_slice(bytes))).await.map(Self)
    }

    fn settings(lane: Lane) -> Settings {
        crate::settings(lane)
    }
}

impl PayloadCalls for MuxOpaque {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        self.0.call(|frame| frame.extend_from_slice(&request)).await
    }
}
