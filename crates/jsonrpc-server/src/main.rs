//! Server of the JSON-RPC stack: jsonrpsee on the connections that the harness accepts.

mod connection;
mod limits;
mod methods;
mod services;

use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings};
use services::Services;

struct JsonRpc;

impl Server for JsonRpc {
    /// On one port: a connection whose first request asks for it becomes a WebSocket.
    const WIRES: &'static [Wire] = &[Wire::new("ws", "json"), Wire::new("http", "json")];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        let services = Services::new(serve.handler.clone()).map_err(ServeError::new)?;
        match serve.lane {
            Lane::Default => connection::serve_all(incoming, serve, services, connection::documented).await,
            Lane::Tuned => connection::serve_all(incoming, serve, services, connection::low_level).await,
        }
    }

    fn settings(lane: Lane) -> Settings {
        limits::settings(lane)
    }
}

fn main() -> ExitCode {
    Registry::new("jsonrpc", "jsonrpsee").serves::<JsonRpc>().main()
}
