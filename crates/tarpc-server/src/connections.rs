//! One task per connection.

use std::pin::pin;

use bench_core::lane::Lane;
use bench_serve::{Incoming, Serve, ServeError};
use tarpc_api::{Format, direct_transport, in_full, library_transport};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::{in_place, spawning};

/// Serves every connection until the server is to stop; calls under way then come to their end.
pub async fn serve_all<F: Format>(mut incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
    let mut connections = JoinSet::new();
    let mut stopping = pin!(serve.clone().shutdown_requested());
    loop {
        tokio::select! {
            accepted = incoming.next() => match accepted {
                Some(Ok(stream)) => drop(connections.spawn(serve_one::<F>(stream, serve.clone()))),
                Some(Err(error)) => serve.handler.connection_failed(&format!("lost a connection at once: {error}")),
                None => break,
            },
            Some(ended) = connections.join_next() => {
                // tarpc panics at a deadline beyond what an instant can hold. That is one peer's fault, and ends that peer's connection.
                if let Err(panic) = ended {
                    serve.handler.connection_failed(&format!("tarpc gave up a connection: {panic}"));
                }
            }
            () = &mut stopping => break,
        }
    }
    while connections.join_next().await.is_some() {}
    Ok(())
}

async fn serve_one<F: Format>(stream: TcpStream, serve: Serve) {
    let handler = serve.handler.clone();
    let peer = stream.peer_addr().map_or("a peer".to_owned(), |peer| peer.to_string());
    let served = match serve.lane {
        Lane::Default => spawning::serve(library_transport::<F, _, _>(stream), serve).await,
        Lane::Tuned => in_place::serve(direct_transport::<F, _>(stream), serve).await,
    };
    if let Err(error) = served {
        handler.connection_failed(&format!("lost {peer}: {}", in_full(&error)));
    }
}
