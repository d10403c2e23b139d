//! The tuned lane's HTTP/2: the `h2` connection that hyper is made of, without hyper's queue and its task for each call.
//!
//! hyper waits for flow control before it sends a body, and a stream that is not open yet has none: HEADERS and DATA become two writes. h2
//! itself takes the body at once, and sends both in one.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bench_load::CallResult;
use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, SendRequest};
use http::{Request, Response};
use http_body::{Body, Frame};
use tokio::net::TcpStream;

use crate::failure;
use crate::http2::Options;

/// One HTTP/2 connection; clones share it.
#[derive(Clone)]
pub struct Direct {
    connection: SendRequest<Bytes>,
}

impl Direct {
    pub async fn connect(stream: TcpStream, options: &Options) -> CallResult<Self> {
        let (connection, driver) = Builder::new()
            .enable_push(false)
            .initial_window_size(options.stream_window_bytes)
            .initial_connection_window_size(options.connection_window_bytes)
            .max_frame_size(options.frame_bytes)
            .handshake(stream)
            .await
            .map_err(|error| failure::of_h2(&error))?;
        // An error of the driver reaches every call that is under way.
        tokio::spawn(async move { drop(driver.await) });
        Ok(Self { connection })
    }

    pub async fn call(&mut self, request: Request<()>, body: Bytes) -> Result<Response<Received>, h2::Error> {
        poll_fn(|context| self.connection.poll_ready(context)).await?;
        let ends_with_its_head = body.is_empty();
        let (reply, mut stream) = self.connection.send_request(request, ends_with_its_head)?;
        if !ends_with_its_head {
            stream.send_data(body, true)?;
        }
        Ok(reply.await?.map(Received))
    }
}

/// A reply's body; the room that it took in the windows is given back as it is read.
pub struct Received(RecvStream);

impl Body for Received {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let piece = match ready!(self.0.poll_data(context)) {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        };
        let released = self.0.flow_control().release_capacity(piece.len());
        Poll::Ready(Some(released.map(|()| Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}
