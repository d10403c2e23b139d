//! The tuned lane: a connection's calls run in its own task. No task, no queue and no waking per call; a call that has nothing to wait for
//! is answered where it is read.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bench_serve::Serve;
use futures::future::Abortable;
use futures::stream::FuturesUnordered;
use futures::{SinkExt as _, StreamExt as _};
use tarpc::server::{BaseChannel, Serve as _, TrackedRequest};
use tarpc::{ChannelError, Request, Response, Transport};
use tarpc_api::{Benchmark as _, BenchmarkRequest, BenchmarkResponse, ToClient, ToServer};

use crate::channel_config;
use crate::service::Service;

/// What a connection has to see to.
enum Event {
    Called(TrackedRequest<BenchmarkRequest>),
    /// `None`: its caller did not want the answer any more.
    Answered(Option<ToClient>),
    Closed,
}

/// Serves one connection, reading from tarpc's channel and writing to it: the third of the ways that its documentation gives.
pub async fn serve<T>(transport: T, serve: Serve) -> Result<(), ChannelError<io::Error>>
where
    T: Transport<ToClient, ToServer, TransportError = io::Error>,
{
    let service = Service {
        handler: serve.handler.clone(),
    };
    let mut between_calls = serve.between_calls();
    let mut channel = pin!(BaseChannel::new(channel_config(), transport));
    let mut waiting = FuturesUnordered::new();
    while let Some(event) = between_calls
        .wait_for(poll_fn(|context| poll_event(&mut channel, &mut waiting, context)))
        .await
    {
        let reply = match event? {
            Event::Called(request) => {
                let mut call = Box::pin(answer(service.clone(), request));
                match poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
                    Poll::Ready(reply) => reply,
                    Poll::Pending => {
                        waiting.push(call);
                        None
                    }
                }
            }
            Event::Answered(reply) => reply,
            Event::Closed => break,
        };
        // Not flushed: whatever is answered until there is nothing more to do makes one write.
        if let Some(reply) = reply {
            channel.feed(reply).await?;
        }
    }
    while let Some(reply) = waiting.next().await {
        if let Some(reply) = reply {
            channel.feed(reply).await?;
        }
    }
    channel.flush().await
}

/// The next event; flushes when there is none.
fn poll_event<T, F>(
    channel: &mut Pin<&mut BaseChannel<BenchmarkRequest, BenchmarkResponse, T>>,
    waiting: &mut FuturesUnordered<Pin<Box<F>>>,
    context: &mut Context<'_>,
) -> Poll<Result<Event, ChannelError<io::Error>>>
where
    T: Transport<ToClient, ToServer, TransportError = io::Error>,
    F: Future<Output = Option<ToClient>>,
{
    if let Poll::Ready(Some(reply)) = waiting.poll_next_unpin(context) {
        return Poll::Ready(Ok(Event::Answered(reply)));
    }
    match channel.poll_next_unpin(context)? {
        Poll::Ready(Some(request)) => Poll::Ready(Ok(Event::Called(request))),
        Poll::Ready(None) => Poll::Ready(Ok(Event::Closed)),
        Poll::Pending => {
            ready!(channel.poll_flush_unpin(context))?;
            Poll::Pending
        }
    }
}

/// One call, until it is answered, cancelled by its caller or past its deadline.
async fn answer(service: Service, call: TrackedRequest<BenchmarkRequest>) -> Option<ToClient> {
    let Request { context, id, message } = call.request;
    let answered = service.serve().serve(context, message);
    let message = Abortable::new(answered, call.abort_registration).await.ok()?;
    Some(Response { request_id: id, message })
}
