//! Server of the Twirp stack: hyper on the connections that the harness accepts, HTTP/1.1 and HTTP/2 on one port.

mod connection;
mod options;
mod service;

use std::process::ExitCode;
use std::sync::Arc;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings, serve_each};

/// Answers every wire: a connection's first bytes tell the transport, a request's content type the codec.
struct Twirp;

impl Server for Twirp {
    const WIRES: &'static [Wire] = &[
        Wire::new("http1", "protobuf"),
        Wire::new("http1", "json"),
        Wire::new("h2c", "protobuf"),
        Wire::new("h2c", "json"),
    ];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        let builder = Arc::new(options::builder(serve.lane));
        serve_each(incoming, serve, |stream, serve| {
            connection::serve_one(stream, serve, builder.clone())
        })
        .await
    }

    fn settings(lane: Lane) -> Settings {
        options::settings(lane)
    }
}

fn main() -> ExitCode {
    Registry::new("twirp", "hyper").serves::<Twirp>().main()
}
