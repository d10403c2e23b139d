//! Server of the gRPC stack: tonic on the connections that the harness accepts.

mod services;

use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings};
use grpc_api::echo_server::EchoServer;
use grpc_api::payload_server::PayloadServer;
use services::Services;
use tonic::transport::Server as TonicServer;

/// HTTP/2's flow control window of a connection, instead of 1 MiB: a normalisation, see the README.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

struct Grpc;

impl Server for Grpc {
    const WIRES: &'static [Wire] = &[Wire::new("h2", "protobuf")];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        let services = Services::new(serve.handler.clone());
        TonicServer::builder()
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .add_service(EchoServer::new(services.clone()))
            .add_service(PayloadServer::new(services))
            .serve_with_incoming_shutdown(incoming, serve.shutdown_requested())
            .await
            .map_err(ServeError::new)
    }

    fn settings(_lane: Lane) -> Settings {
        Settings::from([("connection_window_bytes".to_owned(), CONNECTION_WINDOW_BYTES.into())])
    }
}

fn main() -> ExitCode {
    Registry::new("grpc", "tonic").serves::<Grpc>().main()
}
