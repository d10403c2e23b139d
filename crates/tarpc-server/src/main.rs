//! Server of the tarpc stack: tarpc on the connections that the harness accepts.

mod connection;
mod in_place;
mod service;
mod spawning;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::codec::{Bincode, Json, MessagePack};
use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings, serve_each};
use tarpc::server::Config;
use tarpc_api::{CALLS_AT_ONCE, FRAME_LIMIT, Format, write_boundary_bytes};

/// Answers both services in one format.
struct Tarpc<F>(PhantomData<F>);

impl<F: Format> Server for Tarpc<F> {
    const WIRES: &'static [Wire] = &[Wire::new("tcp+framed", F::NAME)];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_each(incoming, serve, connection::serve_one::<F>).await
    }

    fn settings(lane: Lane) -> Settings {
        let (calls, transport) = match lane {
            Lane::Default => ("a task each", "tarpc::serde_transport"),
            Lane::Tuned => ("in the connection's task", "tokio_util::codec::Framed"),
        };
        Settings::from([
            ("calls".to_owned(), calls.into()),
            ("transport".to_owned(), transport.into()),
            ("frame_limit_bytes".to_owned(), FRAME_LIMIT.into()),
            ("write_boundary_bytes".to_owned(), write_boundary_bytes(lane).into()),
            (
                "pending_response_buffer".to_owned(),
                channel_config().pending_response_buffer.into(),
            ),
        ])
    }
}

/// tarpc's own cap of 100 would let handlers wait for room among the replies.
fn channel_config() -> Config {
    Config {
        pending_response_buffer: CALLS_AT_ONCE,
    }
}

fn main() -> ExitCode {
    Registry::new("tarpc", "tarpc")
        .serves::<Tarpc<Bincode>>()
        .serves::<Tarpc<Json>>()
        .serves::<Tarpc<MessagePack>>()
        .main()
}
