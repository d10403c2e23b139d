//! The tuned lane's HTTP backend: hyper's connection without a pool.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bench_load::CallResult;
use hyper::Uri;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use jsonrpsee_http_client::transport::Error;
use jsonrpsee_http_client::{HttpBody, HttpRequest, HttpResponse};
use tokio::net::TcpStream;
use tower::Service;

use crate::failure;

/// Clones are of the same connection, because the library clones its backend for each call.
#[derive(Clone)]
pub struct Direct {
    connection: Arc<Mutex<SendRequest<HttpBody>>>,
    host: HeaderValue,
}

impl Direct {
    pub async fn handshake(stream: TcpStream, host: &str) -> CallResult<Self> {
        let host = HeaderValue::from_str(host).map_err(|error| failure::no_host(host, &error))?;
        let (connection, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failure::of_http(&failure::http_stream(error)))?;
        // An error of the driver reaches the call that is under way.
        tokio::spawn(async move { drop(driver.await) });
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            host,
        })
    }

    fn connection(&self) -> MutexGuard<'_, SendRequest<HttpBody>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service<HttpRequest> for Direct {
    type Response = HttpResponse<Incoming>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.connection().poll_ready(context).map_err(failure::http_stream)
    }

    fn call(&mut self, mut request: HttpRequest) -> Self::Future {
        // What the pooled client does as well: the host goes to a header of its own.
        *request.uri_mut() = Uri::from_static("/");
        request.headers_mut().insert(HOST, self.host.clone());
        let reply = self.connection().send_request(request);
        Box::pin(async move { reply.await.map_err(failure::http_stream) })
    }
}
