//! Client of the gRPC stack: tonic over the connections that the harness dials.

mod direct;
mod failure;
mod transport;

use std::process::ExitCode;

use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use grpc_api::echo_client::EchoClient;
use grpc_api::payload_client::PayloadClient;
use transport::Transport;

/// The stubs that tonic generated, over one HTTP/2 connection.
#[derive(Clone)]
struct Grpc {
    echo: EchoClient<Transport>,
    payload: PayloadClient<Transport>,
}

impl Connect for Grpc {
    const WIRE: Wire = Wire::new("h2", "protobuf");
    const SHARE: Option<fn(&Self) -> Self> = Some(Clone::clone);

    async fn connect(target: &Target) -> CallResult<Self> {
        let (transport, origin) = Transport::connect(target).await?;
        Ok(Self {
            echo: EchoClient::with_origin(transport.clone(), origin.clone()),
            payload: PayloadClient::with_origin(transport, origin),
        })
    }

    fn settings(lane: Lane) -> Settings {
        Transport::settings(lane)
    }
}

impl EchoCalls for Grpc {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        let reply = self.echo.say(request).await.map_err(failure::of_call)?;
        Ok(reply.into_inner())
    }
}

impl PayloadCalls for Grpc {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let request = PayloadMessage { body: request };
        let reply = self.payload.exchange(request).await.map_err(failure::of_call)?;
        Ok(reply.into_inner().body)
    }
}

fn main() -> ExitCode {
    Registry::new("grpc", "tonic").echo::<Grpc>().payload::<Grpc>().main()
}
