//! One connection; hyper does the rest.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bench_core::failure::in_full;
use bench_serve::Serve;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;

use crate::service;

/// Serves it until its peer closes it or the server is to stop; calls under way then come to their end.
pub async fn serve_one(stream: TcpStream, serve: Serve, builder: Arc<Builder<TokioExecutor>>) -> Result<(), String> {
    let mut between_calls = serve.between_calls();
    let answer = service_fn(|request| service::answer(request, serve.handler.clone()));
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answer));
    let served = match between_calls.wait_for(connection.as_mut()).await {
        Some(served) => served,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await.or_else(ended_before_its_first_byte)
        }
    };
    served.map_err(|error| in_full(error.as_ref()))
}

type BoxError = Box<dyn Error + Send + Sync>;

/// A connection whose transport is not known yet has no call under way; hyper-util ends it by this error.
fn ended_before_its_first_byte(error: BoxError) -> Result<(), BoxError> {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::Interrupted) => Ok(()),
        _ => Err(error),
    }
}
