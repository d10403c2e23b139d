//! For libraries that are handed one connection at a time: a task for each, started, reported and ended here.

use std::pin::pin;

use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::server::{Incoming, Serve, ServeError};

/// Serves every connection with `serve_one` in a task of its own until the server is to stop, and returns when the calls that were then
/// under way have come to their end; how long that may take is the harness's affair.
///
/// `serve_one` returns when the peer has closed the connection, when the server is to stop and no call is under way
/// ([`Serve::between_calls`]), or why the connection ended before that. A panic in it ends that connection and no other.
///
/// # Errors
/// None so far: a connection that is lost is reported by itself.
pub async fn serve_each<F>(mut incoming: Incoming, serve: Serve, serve_one: impl Fn(TcpStream, Serve) -> F) -> Result<(), ServeError>
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut stopping = pin!(serve.clone().shutdown_requested());
    loop {
        tokio::select! {
            accepted = incoming.next() => match accepted {
                Some(Ok(stream)) => {
                    let peer = stream.peer_addr().map_or("a peer".to_owned(), |peer| peer.to_string());
                    let (handler, served) = (serve.handler.clone(), serve_one(stream, serve.clone()));
                    connections.spawn(async move {
                        if let Err(reason) = served.await {
                            handler.connection_failed(&format!("lost {peer}: {reason}"));
                        }
                    });
                }
                Some(Err(error)) => serve.handler.connection_failed(&format!("lost a connection at once: {error}")),
                None => break,
            },
            Some(ended) = connections.join_next() => report_panic(&serve, ended),
            () = &mut stopping => break,
        }
    }
    while let Some(ended) = connections.join_next().await {
        report_panic(&serve, ended);
    }
    Ok(())
}

fn report_panic(serve: &Serve, ended: Result<(), tokio::task::JoinError>) {
    if let Err(panic) = ended {
        serve.handler.connection_failed(&format!("a connection was given up: {panic}"));
    }
}
