//! Client of the gRPC stack: tonic over the connections that the harness dials.

use std::process::ExitCode;

use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use grpc_api::echo_client::EchoClient;
use grpc_api::payload_client::PayloadClient;
use hyper_util::rt::TokioIo;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Status};
use tower::service_fn;

#[derive(Clone)]
struct Grpc {
    channel: Channel,
}

impl Connect for Grpc {
    const WIRE: Wire = Wire::new("h2", "protobuf");
    const SHARE: Option<fn(&Self) -> Self> = Some(Clone::clone);

    async fn connect(target: &Target) -> CallResult<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{}", target.text)).map_err(other)?;
        let target = target.clone();
        let channel = endpoint
            .connect_with_connector(service_fn(move |_: Uri| {
                let target = target.clone();
                async move { target.dial().await.map(TokioIo::new) }
            }))
            .await
            .map_err(other)?;
        Ok(Self { channel })
    }

    fn settings(_lane: Lane) -> Settings {
        Settings::new()
    }
}
impl EchoCalls for Grpc {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        let reply = EchoClient::new(self.channel.clone()).say(request).await.map_err(failure)?;
        Ok(reply.into_inner())
    }
}

impl PayloadCalls for Grpc {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let reply = PayloadClient::new(self.channel.clone())
            .exchange(PayloadMessage { body: request })
            .await
            .map_err(failure)?;
        Ok(reply.into_inner().body)
    }
}

fn other(error: tonic::transport::Error) -> CallError {
    CallError::fatal(FailureKind::Refused, error.to_string())
}

fn failure(status: Status) -> CallError {
    let kind = match status.code() {
        Code::Unavailable => FailureKind::Reset,
        _ => FailureKind::ServerError,
    };
    CallError::fatal(kind, status.to_string())
}

fn main() -> ExitCode {
    Registry::new("grpc", "tonic").echo::<Grpc>().payload::<Grpc>().main()
}
