//! Client of the Twirp stack: hyper over the connections that the harness dials.

mod calls;
mod direct;
mod failure;
mod http1;
mod http2;
mod requests;

use std::process::ExitCode;

use bench_load::Registry;
use calls::Twirp;
use http1::Http1;
use http2::Http2;
use twirp_api::{Json, Protobuf};

fn main() -> ExitCode {
    Registry::new("twirp", "hyper")
        .echo::<Twirp<Http1, Protobuf>>()
        .payload::<Twirp<Http1, Protobuf>>()
        .echo::<Twirp<Http1, Json>>()
        .payload::<Twirp<Http1, Json>>()
        .echo::<Twirp<Http2, Protobuf>>()
        .payload::<Twirp<Http2, Protobuf>>()
        .echo::<Twirp<Http2, Json>>()
        .payload::<Twirp<Http2, Json>>()
        .main()
}
