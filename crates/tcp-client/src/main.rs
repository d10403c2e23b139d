//! Client of the raw TCP stack: length-prefixed frames and a codec, nothing else. The floor that frameworks are compared with.

mod connection;
mod framed;
mod mux;

use std::process::ExitCode;

use bench_core::codec::{Bincode, Json, MessagePack, Protobuf};
use bench_core::lane::Lane;
use bench_load::{Registry, Settings};
use framed::{Echo, Opaque};
use mux::{MuxEcho, MuxOpaque};

/// Both lanes are the same: there is no library whose defaults could be tuned.
fn settings(_lane: Lane) -> Settings {
    Settings::from([("frame_limit_bytes".to_owned(), tcp_api::FRAME_LIMIT.into())])
}

fn main() -> ExitCode {
    Registry::new("tcp", "tokio")
        .echo::<Echo<Protobuf>>()
        .echo::<Echo<Json>>()
        .echo::<Echo<MessagePack>>()
        .echo::<Echo<Bincode>>()
        .payload::<Opaque>()
        .echo::<MuxEcho<Protobuf>>()
        .payload::<MuxOpaque>()
        .main()
}
