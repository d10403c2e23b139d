//! Client of the Thrift stack: Apache Thrift's generated client over the connections that the harness dials, each on a thread of its
//! own.

mod failure;
mod generated;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use generated::GeneratedClient;
use thrift_api::{
    BenchmarkMessage, BufferedBinary, BufferedCompact, FramedBinary, FramedCompact, TBenchSyncClient, Variant, with_protocols,
};

/// The generated client over one connection; it carries one call at a time.
struct Thrift<V> {
    client: Box<dyn TBenchSyncClient>,
    wire: PhantomData<V>,
}

impl<V: Variant> Connect for Thrift<V> {
    const WIRE: Wire = V::WIRE;
    const BLOCKING: bool = true;

    async fn connect(target: &Target) -> CallResult<Self> {
        let socket = target.dial_blocking()?;
        Ok(Self {
            client: with_protocols::<V, _>(target.lane, socket.clone(), socket, GeneratedClient),
            wire: PhantomData,
        })
    }

    fn settings(lane: Lane) -> Settings {
        thrift_api::settings::<V>(lane)
    }
}

impl<V: Variant> EchoCalls for Thrift<V> {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        self.client.say(request).map_err(failure::of_call)
    }
}

impl<V: Variant> PayloadCalls for Thrift<V> {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        // The generated client takes a vector of its own.
        let reply = self.client.exchange(request.to_vec()).map_err(failure::of_call)?;
        Ok(reply.into())
    }
}

fn main() -> ExitCode {
    Registry::new("thrift", "thrift")
        .echo::<Thrift<BufferedBinary>>()
        .payload::<Thrift<BufferedBinary>>()
        .echo::<Thrift<FramedBinary>>()
        .payload::<Thrift<FramedBinary>>()
        .echo::<Thrift<BufferedCompact>>()
        .payload::<Thrift<BufferedCompact>>()
        .echo::<Thrift<FramedCompact>>()
        .payload::<Thrift<FramedCompact>>()
        .main()
}
