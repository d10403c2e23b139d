//! Many calls at once on a connection: one task reads what has come, lets all calls go on, and sends what is answered.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::task::{Context, Poll};

use bench_core::codec::Codec;
use bench_core::handler::Handler;
use bench_core::lane::Lane;
use bench_core::message::BenchmarkMessage;
use bench_core::wire::Wire;
use bench_serve::{BetweenCalls, Incoming, Serve, ServeError, Server, Settings, serve_each};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tcp_api::ReadError;
use tcp_api::mux::{Inbox, Outbox};
use tokio::net::TcpStream;

use crate::connection::{Failure, end, read_failure};

/// Calls under way on a connection, at most: beyond it nothing more is read, and the peer waits.
const MOST_CALLS: usize = 64 * 1024;

/// Answers messages of one codec.
pub struct Echo<C>(PhantomData<C>);

/// Answers opaque bytes.
pub struct Opaque;

impl<C: Codec<BenchmarkMessage>> Server for Echo<C> {
    const WIRES: &'static [Wire] = &[Wire::new("tcp+mux", C::NAME)];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_each(incoming, serve, echo::<C>).await
    }

    fn settings(lane: Lane) -> Settings {
        crate::settings(lane)
    }
}

impl Server for Opaque {
    const WIRES: &'static [Wire] = &[Wire::new("tcp+mux", "opaque")];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_each(incoming, serve, opaque).await
    }

    fn settings(lane: Lane) -> Settings {
        crate::settings(lane)
    }
}

async fn echo<C: Codec<BenchmarkMessage>>(stream: TcpStream, serve: Serve) -> Result<(), String> {
    let handler = serve.handler.clone();
    let service = Service {
        decode: |bytes| C::decode(bytes).map_err(|error| error.to_string()),
        handle: move |request| {
            let handler = handler.clone();
            async move { handler.echo(request).await }
        },
        encode: C::encode,
    };
    serve_one(stream, &serve.handler, serve.between_calls(), service).await
}

async fn opaque(stream: TcpStream, serve: Serve) -> Result<(), String> {
    let handler = serve.handler.clone();
    let service = Service {
        decode: |bytes| Ok(Bytes::copy_from_slice(bytes)),
        handle: move |request| {
            let handler = handler.clone();
            async move { handler.payload(request).await }
        },
        encode: |reply, frame| frame.extend_from_slice(reply),
    };
    serve_one(stream, &serve.handler, serve.between_calls(), service).await
}

/// From bytes to bytes.
struct Service<M, H> {
    decode: fn(&[u8]) -> Result<M, String>,
    handle: H,
    encode: fn(&M, &mut Vec<u8>),
}

async fn serve_one<M, F>(
    stream: TcpStream,
    handler: &Handler,
    between_calls: BetweenCalls,
    service: Service<M, impl Fn(M) -> F>,
) -> Result<(), String>
where
    F: Future<Output = M>,
{
    let mut connection = Connection {
        stream,
        between_calls,
        inbox: Inbox::default(),
        outbox: Outbox::default(),
        takes_more: true,
    };
    let mut calls = FuturesUnordered::new();
    let handle = |id, request| {
        let reply = (service.handle)(request);
        async move { (id, reply.await) }
    };
    let served = poll_fn(|context| {
        loop {
            // Answers first: what is sent makes room for what comes.
            while let Poll::Ready(Some((id, reply))) = calls.poll_next_unpin(context) {
                connection.answer(id, |frame| (service.encode)(&reply, frame))?;
            }
            let flushed = connection.outbox.poll_flush(&connection.stream, context)?;
            if flushed.is_pending() || calls.len() >= MOST_CALLS {
                return Poll::Pending;
            }
            let mut refused = None;
            let begin = |id, body: &[u8]| match (service.decode)(body) {
                Ok(request) => calls.push(handle(id, request)),
                Err(reason) => refused = Some(Failure::Refuse(reason)),
            };
            match connection.poll_calls(context, begin)? {
                Poll::Ready(()) => {}
                Poll::Pending if calls.is_empty() && !connection.takes_more => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
            if let Some(failure) = refused {
                return Poll::Ready(Err(failure));
            }
        }
    });
    match served.await {
        Ok(()) => Ok(()),
        Err(failure) => end(connection.stream, handler, failure).await,
    }
}

struct Connection {
    stream: TcpStream,
    between_calls: BetweenCalls,
    inbox: Inbox,
    outbox: Outbox,
    /// False once the peer has closed its side or the server is to stop: calls under way still end.
    takes_more: bool,
}

impl Connection {
    fn answer(&mut self, id: u64, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), Failure> {
        let added = self.outbox.add(id, fill);
        added.map_err(|length| Failure::Refuse(format!("a reply of {length} bytes is over the limit")))
    }

    /// Gives every call that has come to `begin`; pending when there is none now.
    fn poll_calls(&mut self, context: &mut Context<'_>, begin: impl FnMut(u64, &[u8])) -> Poll<Result<(), Failure>> {
        if self.takes_more {
            match self.inbox.poll_receive(&self.stream, context, begin) {
                Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
                Poll::Ready(Err(ReadError::Closed)) => self.takes_more = false,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(read_failure(error))),
                Poll::Pending => self.takes_more = !self.between_calls.is_stopping(context),
            }
        }
        Poll::Pending
    }
}
