//! Server of the raw TCP stack: length-prefixed frames and a codec, nothing else. The floor that frameworks are compared with.

mod connection;
mod mux;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::codec::{Bincode, Codec, Json, MessagePack, Protobuf};
use bench_core::lane::Lane;
use bench_core::message::BenchmarkMessage;
use bench_core::wire::Wire;
use bench_serve::{Incoming, Registry, Serve, ServeError, Server, Settings, serve_each};

/// Answers messages of one codec, one call at a time on a connection.
struct Echo<C>(PhantomData<C>);

/// Answers opaque bytes.
struct Opaque;

impl<C: Codec<BenchmarkMessage>> Server for Echo<C> {
    const WIRES: &'static [Wire] = &[Wire::new("tcp+framed", C::NAME)];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_each(incoming, serve, connection::echo::<C>).await
    }

    fn settings(lane: Lane) -> Settings {
        settings(lane)
    }
}

impl Server for Opaque {
    const WIRES: &'static [Wire] = &[Wire::new("tcp+framed", "opaque")];

    async fn serve(incoming: Incoming, serve: Serve) -> Result<(), ServeError> {
        serve_each(incoming, serve, connection::opaque).await
    }

    fn settings(lane: Lane) -> Settings {
        settings(lane)
    }
}

/// Both lanes are the same: there is no library whose defaults could be tuned.
fn settings(_lane: Lane) -> Settings {
    Settings::from([("frame_limit_bytes".to_owned(), tcp_api::FRAME_LIMIT.into())])
}

fn main() -> ExitCode {
    Registry::new("tcp", "tokio")
        .serves::<Echo<Protobuf>>()
        .serves::<Echo<Json>>()
        .serves::<Echo<MessagePack>>()
        .serves::<Echo<Bincode>>()
        .serves::<Opaque>()
        .serves::<mux::Echo<Protobuf>>()
        .serves::<mux::Opaque>()
        .main()
}
