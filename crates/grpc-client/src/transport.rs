//! What carries the calls: tonic's `Channel` in the default lane, hyper's connection without it in the tuned lane.

use std::pin::Pin;
use std::task::{Context, Poll};

use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use http::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tonic::body::Body;
use tonic::transport::channel::ResponseFuture;
use tonic::transport::{Channel, Endpoint};
use tower::{Service, service_fn};

use crate::direct::Direct;
use crate::failure;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One HTTP/2 connection.
#[derive(Clone)]
pub enum Transport {
    /// As tonic's documentation shows: a connection behind a queue, with reconnecting.
    Channel(Channel),
    /// The connection itself.
    Direct(Direct),
}

impl Transport {
    /// Opens a connection; the second value is what requests are addressed to.
    pub async fn connect(target: &Target) -> CallResult<(Self, Uri)> {
        let origin: Uri = format!("http://{}", target.text)
            .parse()
            .map_err(|error| CallError::fatal(FailureKind::Other, format!("{} is no authority: {error}", target.text)))?;
        let transport = match target.lane {
            Lane::Default => Self::Channel(channel(target, origin.clone()).await?),
            Lane::Tuned => Self::Direct(Direct::connect(target).await?),
        };
        Ok((transport, origin))
    }

    pub fn settings(lane: Lane) -> Settings {
        let transport = match lane {
            Lane::Default => "tonic::transport::Channel",
            Lane::Tuned => "hyper::client::conn::http2",
        };
        Settings::from([("transport".to_owned(), transport.into())])
    }
}

async fn channel(target: &Target, origin: Uri) -> CallResult<Channel> {
    let target = target.clone();
    let dial = service_fn(move |_: Uri| {
        let target = target.clone();
        async move { target.dial().await.map(TokioIo::new) }
    });
    Endpoint::from(origin)
        .connect_with_connector(dial)
        .await
        .map_err(|error| failure::of_connect(&error))
}

impl Service<Request<Body>> for Transport {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = Reply;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Self::Channel(channel) => channel.poll_ready(context).map_err(BoxError::from),
            // hyper's is always ready or closed; a closed connection says so as the call's own error, with its cause.
            Self::Direct(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self {
            Self::Channel(channel) => Reply::Channel(channel.call(request)),
            Self::Direct(direct) => Reply::Direct(Box::pin(direct.call(request))),
        }
    }
}

/// A reply that is still to come.
pub enum Reply {
    Channel(ResponseFuture),
    Direct(Pin<Box<dyn Future<Output = Result<Response<Body>, hyper::Error>> + Send>>),
}

impl Future for Reply {
    type Output = Result<Response<Body>, BoxError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Channel(reply) => Pin::new(reply).poll(context).map_err(BoxError::from),
            Self::Direct(reply) => reply.as_mut().poll(context).map_err(BoxError::from),
        }
    }
}
