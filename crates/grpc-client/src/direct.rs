//! The tuned lane's transport: hyper's HTTP/2 connection without tonic's `Channel`, and requests in one DATA frame.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bench_load::{CallResult, Target};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tonic::Status;
use tonic::body::Body;

use crate::failure;

/// One HTTP/2 connection; clones share it.
#[derive(Clone)]
pub struct Direct {
    connection: SendRequest<LookAhead>,
}

impl Direct {
    pub async fn connect(target: &Target) -> CallResult<Self> {
        let io = TokioIo::new(target.dial().await?);
        let (connection, driver) = http2::handshake(TokioExecutor::new(), io)
            .await
            .map_err(|error| failure::of_connect(&error))?;
        // An error of the driver reaches every call that is under way.
        tokio::spawn(async move { drop(driver.await) });
        Ok(Self { connection })
    }

    pub fn call(&mut self, request: Request<Body>) -> impl Future<Output = Result<Response<Body>, hyper::Error>> + Send + use<> {
        let reply = self.connection.send_request(request.map(LookAhead::new));
        async move { Ok(reply.await?.map(Body::new)) }
    }
}

/// A request body that knows, with its last frame, that it is the last. tonic's own says so one poll later, which costs an empty DATA
/// frame and its write.
pub struct LookAhead {
    body: Body,
    next: Option<Result<Frame<Bytes>, Status>>,
    ended: bool,
}

impl LookAhead {
    fn new(body: Body) -> Self {
        Self {
            body,
            next: None,
            ended: false,
        }
    }
}

impl HttpBody for LookAhead {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match self.next.take() {
            Some(frame) => Some(frame),
            None => ready!(Pin::new(&mut self.body).poll_frame(context)),
        };
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(next)) => self.next = Some(next),
            Poll::Ready(None) => self.ended = true,
            Poll::Pending => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.next.is_none()
    }
}
