//! tonic's stubs of the echo and payload services, generated from `proto/benchmark.proto` by `build.rs`.

#![allow(missing_docs)]

include!(concat!(env!("OUT_DIR"), "/rpcbench.rs"));
