//! The default lane's HTTP backend: what jsonrpsee's own is, over a connector that has one socket.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jsonrpsee_http_client::transport::Error;
use jsonrpsee_http_client::{HttpBody, HttpRequest, HttpResponse};
use tokio::net::TcpStream;
use tower::Service;

use crate::failure;
use crate::one_socket::OneSocket;

#[derive(Clone)]
pub struct Pooled {
    client: Client<OneSocket, HttpBody>,
    socket: OneSocket,
}

impl Pooled {
    pub fn new(stream: TcpStream) -> Self {
        let socket = OneSocket::new(stream);
        let client = Client::builder(TokioExecutor::new())
            // The connection is for the whole run, however long its caller pauses.
            .pool_idle_timeout(None)
            .build(socket.clone());
        Self { client, socket }
    }
}

impl Service<HttpRequest> for Pooled {
    type Response = HttpResponse<Incoming>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest) -> Self::Future {
        let reply = self.client.request(request);
        let socket = self.socket.clone();
        Box::pin(async move {
            let reply = reply.await;
            socket.end_waiting();
            reply.map_err(failure::http_stream)
        })
    }
}
