//! Generates tonic's stubs from `proto/benchmark.proto`, for the message types that `bench-core` already has.

use std::env;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proto = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo:rerun-if-changed={}", proto.display());
    let descriptors = protox::compile(["benchmark.proto"], [&proto])?;
    tonic_prost_build::configure()
        .extern_path(".rpcbench.BenchmarkMessage", "::bench_core::message::BenchmarkMessage")
        .extern_path(".rpcbench.PayloadMessage", "::bench_core::message::PayloadMessage")
        .compile_fds(descriptors)?;
    Ok(())
}
