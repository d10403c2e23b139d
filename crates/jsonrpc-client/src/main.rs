//! Client of the JSON-RPC stack: jsonrpsee over the connections that the harness dials.

mod bare;
mod direct;
mod failure;
mod http;
mod limits;
mod one_socket;
mod pooled;
mod ws;

use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use http::Http;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ws::Ws;

/// How a second caller gets the same connection.
type Share<C> = fn(&C) -> C;

/// What carries requests and their replies.
trait Transport: Sized + 'static {
    const NAME: &'static str;
    const SHARE: Option<Share<JsonRpc<Self>>>;

    async fn connect(target: &Target) -> CallResult<Self>;

    /// One call with one parameter, by position.
    async fn request<P: Serialize + Send, R: DeserializeOwned>(&self, method: &str, parameter: P) -> CallResult<R>;

    fn settings(lane: Lane) -> Settings;
}

/// The calls of both services, over either transport.
#[derive(Clone)]
struct JsonRpc<T>(T);

impl<T: Transport> Connect for JsonRpc<T> {
    const WIRE: Wire = Wire::new(T::NAME, "json");
    const SHARE: Option<Share<Self>> = T::SHARE;

    async fn connect(target: &Target) -> CallResult<Self> {
        T::connect(target).await.map(Self)
    }

    fn settings(lane: Lane) -> Settings {
        T::settings(lane)
    }
}

impl<T: Transport> EchoCalls for JsonRpc<T> {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        self.0.request("echo", request).await
    }
}

impl<T: Transport> PayloadCalls for JsonRpc<T> {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let reply: PayloadMessage = self.0.request("payload", PayloadMessage { body: request }).await?;
        Ok(reply.body)
    }
}

fn main() -> ExitCode {
    Registry::new("jsonrpc", "jsonrpsee")
        .echo::<JsonRpc<Ws>>()
        .payload::<JsonRpc<Ws>>()
        .echo::<JsonRpc<Http>>()
        .payload::<JsonRpc<Http>>()
        .main()
}
