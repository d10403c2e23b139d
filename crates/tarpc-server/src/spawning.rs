//! The default lane: a task for each call, as tarpc's documentation shows.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bench_serve::Serve;
use futures::{Sink as _, Stream as _, StreamExt as _};
use tarpc::server::{BaseChannel, Channel as _, Requests};
use tarpc::{ChannelError, Transport};
use tarpc_api::{Benchmark as _, BenchmarkRequest, BenchmarkResponse, ToClient, ToServer};

use crate::channel_config;
use crate::service::Service;

type BaseRequests<T> = Requests<BaseChannel<BenchmarkRequest, BenchmarkResponse, T>>;

/// Serves one connection. `Channel::execute` is this loop, but leaves it to a log to say why a connection ended.
pub async fn serve<T>(transport: T, serve: Serve) -> Result<(), ChannelError<io::Error>>
where
    T: Transport<ToClient, ToServer, TransportError = io::Error>,
{
    let service = Service {
        handler: serve.handler.clone(),
    };
    let mut between_calls = serve.between_calls();
    let mut requests: Pin<&mut BaseRequests<T>> = pin!(BaseChannel::new(channel_config(), transport).requests());
    while let Some(request) = between_calls.wait_for(requests.next()).await {
        match request {
            Some(request) => drop(tokio::spawn(request?.execute(service.clone().serve()))),
            None => return Ok(()),
        }
    }
    poll_fn(|context| poll_last_calls(&mut requests, context)).await
}

/// Ready when the calls under way have been answered; what comes meanwhile is not taken up any more.
fn poll_last_calls<T>(requests: &mut Pin<&mut BaseRequests<T>>, context: &mut Context<'_>) -> Poll<Result<(), ChannelError<io::Error>>>
where
    T: Transport<ToClient, ToServer, TransportError = io::Error>,
{
    loop {
        match requests.as_mut().poll_next(context)? {
            Poll::Ready(Some(late)) => drop(late),
            Poll::Ready(None) => return Poll::Ready(Ok(())),
            Poll::Pending if requests.channel().in_flight_requests() > 0 => return Poll::Pending,
            Poll::Pending => return requests.channel_pin_mut().poll_flush(context),
        }
    }
}
