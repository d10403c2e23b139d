//! Generates the message types from `proto/benchmark.proto`: protobuf by prost, the JSON of protobuf by pbjson.

use std::env;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proto = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo:rerun-if-changed={}", proto.display());
    let descriptors = protox::compile(["benchmark.proto"], [&proto])?;

    let mut json = pbjson_build::Builder::new();
    for file in &descriptors.file {
        json.register_file_descriptor(file.clone());
    }
    // As the Twirp servers of other languages: a newer client may send fields that this server does not know.
    json.ignore_unknown_fields().build(&[".rpcbench"])?;

    prost_build::Config::new().bytes(["."]).compile_fds(descriptors)?;
    Ok(())
}
