//! HTTP/1.1: a connection that carries one call at a time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request};
use http_body_util::Full;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::failure;
use crate::requests::{Method, Requests, Transport, sends_accept};

pub struct Http1 {
    requests: Requests,
    host: HeaderValue,
    connection: SendRequest<Full<Bytes>>,
    driver: Driver,
}

/// Who polls hyper's connection.
enum Driver {
    /// A task of its own, as hyper's documentation shows; also: nobody any more, it has ended.
    Task,
    /// The call itself: in the tuned lane no task is woken to send and another to hear of the reply.
    Call(Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>),
}

impl Http1 {
    pub async fn connect(target: &Target, content_type: &'static str) -> CallResult<Self> {
        let requests = Requests::new("", content_type, target)?;
        let host = HeaderValue::try_from(&target.text).map_err(|error| failure::of_authority(target, &error))?;
        let io = TokioIo::new(target.dial().await?);
        let (connection, driver) = http1::handshake(io).await.map_err(|error| failure::of_hyper(&error))?;
        let driver = match target.lane {
            Lane::Default => {
                // An error of the driver reaches the call that is under way.
                tokio::spawn(async move { drop(driver.await) });
                Driver::Task
            }
            Lane::Tuned => Driver::Call(Box::new(driver)),
        };
        Ok(Self {
            requests,
            host,
            connection,
            driver,
        })
    }
}

impl Transport for Http1 {
    async fn post(&mut self, method: Method, body: Bytes) -> CallResult<Bytes> {
        let mut request = self.requests.make(method, Full::new(body));
        request.headers_mut().insert(HOST, self.host.clone());
        let exchange = exchange(&mut self.connection, request, &self.requests);
        match self.driver {
            Driver::Task => exchange.await,
            Driver::Call(_) => {
                let mut exchange = pin!(exchange);
                poll_fn(|context| self.driver.poll_with(exchange.as_mut(), context)).await
            }
        }
    }
}

async fn exchange(connection: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>, requests: &Requests) -> CallResult<Bytes> {
    // After a reply hyper needs a turn until it takes the next request.
    connection.ready().await.map_err(|error| failure::of_hyper(&error))?;
    let reply = connection.send_request(request).await;
    requests
        .read(reply.map_err(|error| failure::of_hyper(&error))?, failure::of_hyper)
        .await
}

impl Driver {
    /// Polls the call and the connection in turn. Twice, because what the connection has done, the call goes on with: it hands over a
    /// request and is given the reply's head, it asks for the body and is given that.
    fn poll_with<T>(&mut self, mut exchange: Pin<&mut impl Future<Output = T>>, context: &mut Context<'_>) -> Poll<T> {
        for _ in 0..2 {
            if let Poll::Ready(reply) = exchange.as_mut().poll(context) {
                return Poll::Ready(reply);
            }
            if let Self::Call(connection) = self
                && Pin::new(connection).poll(context).is_ready()
            {
                // Dropped, so that a call that waits for it hears of its end.
                *self = Self::Task;
            }
        }
        exchange.poll(context)
    }
}

pub fn settings(lane: Lane) -> Settings {
    let driver = match lane {
        Lane::Default => "task",
        Lane::Tuned => "call",
    };
    Settings::from([
        ("accept_header".to_owned(), sends_accept(lane).into()),
        ("body_limit_bytes".to_owned(), twirp_api::BODY_LIMIT.into()),
        ("connection_polled_by".to_owned(), driver.into()),
        ("transport".to_owned(), "hyper::client::conn::http1".into()),
    ])
}
