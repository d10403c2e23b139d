//! One task per connection; hyper does the rest.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bench_serve::{Incoming, Serve, ServeError};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::{options, service};

/// Serves every connection until the server is to stop; calls under way then come to their end.
pub async fn serve_all(mut incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
    let builder = Arc::new(options::builder(serve.lane));
    let mut connections = JoinSet::new();
    let mut stopping = pin!(serve.clone().shutdown_requested());
    loop {
        tokio::select! {
            accepted = incoming.next() => match accepted {
                Some(Ok(stream)) => drop(connections.spawn(serve_one(stream, serve.clone(), builder.clone()))),
                Some(Err(error)) => serve.handler.connection_failed(&format!("lost a connection at once: {error}")),
                None => break,
            },
            Some(_) = connections.join_next() => {}
            () = &mut stopping => break,
        }
    }
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn serve_one(stream: TcpStream, serve: Serve, builder: Arc<Builder<TokioExecutor>>) {
    let peer = stream.peer_addr().map_or("a peer".to_owned(), |peer| peer.to_string());
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
    if let Err(error) = served {
        serve
            .handler
            .connection_failed(&format!("lost {peer}: {error}{}", causes(error.as_ref())));
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

/// A connection whose transport is not known yet has no call under way; hyper-util ends it by this error.
fn ended_before_its_first_byte(error: BoxError) -> Result<(), BoxError> {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(io::ErrorKind::Interrupted) => Ok(()),
        _ => Err(error),
    }
}

/// hyper says "connection error"; what happened stands further down.
fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(current) = cause {
        text += &format!(": {current}");
        cause = current.source();
    }
    text
}
