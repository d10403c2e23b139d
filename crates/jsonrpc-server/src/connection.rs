//! One task per connection: HTTP requests, of which the first may turn it into a WebSocket.
//!
//! jsonrpsee's own `serve_with_graceful_shutdown` would close a connection that is silent for its first 30 s. That limit cannot be set,
//! and a client that is held ready may be silent for longer, so the lines of that function stand here without it.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::{Pin, pin};

use bench_core::failure::in_full;
use bench_core::handler::Handler;
use bench_serve::{Incoming, Serve, ServeError, serve_each};
use hyper::body::Incoming as Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use jsonrpsee::server::middleware::rpc::RpcServiceBuilder;
use jsonrpsee::server::{StopHandle, http, ws};
use tokio::net::TcpStream;
use tower::Service as _;

use crate::services::Services;

/// How a connection ended, as the library tells it.
pub type Ended = Result<(), Box<dyn Error + Send + Sync>>;

/// Serves every connection with `serve_one` until the server is to stop; calls under way then come to their end.
pub async fn serve_all<F>(
    incoming: Incoming,
    serve: Serve,
    services: Services,
    serve_one: fn(TcpStream, Services) -> F,
) -> Result<(), ServeError>
where
    F: Future<Output = Ended> + Send + 'static,
{
    let stopping = serve.clone().shutdown_requested();
    let all = services.clone();
    let serving = serve_each(incoming, serve, move |stream, _| {
        let served = serve_one(stream, all.clone());
        async move { served.await.map_err(|error| in_full(&*error)) }
    });
    let telling = async {
        stopping.await;
        services.stop().await;
    };
    tokio::join!(serving, telling).0
}

/// As jsonrpsee's documentation shows: a service for each request, over hyper-util's connection that is ready for HTTP/2 as well.
pub async fn documented(stream: TcpStream, services: Services) -> Ended {
    let stop = services.stop.clone();
    let service = service_fn(move |request: Request<Body>| {
        let mut service = services.builder.clone().build(services.methods.clone(), services.stop.clone());
        let handler = services.handler.clone();
        async move {
            // The service has no error of its own to tell.
            let response = service.call(request).await.map_err(io::Error::other)?;
            report_lost_request(response.status(), &handler);
            Ok::<_, io::Error>(response)
        }
    });
    let http = auto::Builder::new(TokioExecutor::new());
    let connection = http.serve_connection_with_upgrades(TokioIo::new(stream), service);
    until_stopped(connection, |connection| connection.graceful_shutdown(), stop).await
}

/// jsonrpsee's low-level functions over hyper's connection: what a service is made of exists once per connection.
pub async fn low_level(stream: TcpStream, services: Services) -> Ended {
    let stop = services.stop.clone();
    let state = services.connection()?;
    let service = service_fn(move |request: Request<Body>| {
        let (config, methods, state) = (services.config.clone(), services.methods.clone(), state.clone());
        let handler = services.handler.clone();
        async move {
            let middleware = RpcServiceBuilder::new();
            if !ws::is_upgrade_request(&request) {
                let response = http::call_with_service_builder(request, config, state, methods, middleware).await;
                report_lost_request(response.status(), &handler);
                return Ok(response);
            }
            match ws::connect(request, config, methods, state, middleware).await {
                Ok((response, session)) => {
                    tokio::spawn(session);
                    Ok::<_, Infallible>(response)
                }
                Err(response) => Ok(response),
            }
        }
    });
    let connection = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    Ok(until_stopped(connection, |connection| connection.graceful_shutdown(), stop).await?)
}

/// Too large, or cut off: such a request's connection ends after the answer, without an error of hyper's.
fn report_lost_request(status: StatusCode, handler: &Handler) {
    if let StatusCode::PAYLOAD_TOO_LARGE | StatusCode::INTERNAL_SERVER_ERROR = status {
        handler.connection_failed(&format!("a request was not read to its end, answered with HTTP status {status}"));
    }
}

async fn until_stopped<C: Future>(connection: C, shut_down: fn(Pin<&mut C>), stop: StopHandle) -> C::Output {
    let (mut connection, stopped) = (pin!(connection), pin!(stop.shutdown()));
    tokio::select! {
        ended = &mut connection => return ended,
        () = stopped => shut_down(connection.as_mut()),
    }
    connection.await
}
