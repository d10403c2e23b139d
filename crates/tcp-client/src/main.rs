//! Client of the raw TCP stack: length-prefixed frames and a codec, nothing else. The floor that frameworks are compared with.

mod connection;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::codec::{Bincode, Codec, Json, MessagePack, Protobuf};
use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_core::message::BenchmarkMessage;
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use connection::Connection;

/// Messages of one codec.
struct Echo<C> {
    connection: Connection,
    codec: PhantomData<C>,
}

/// Opaque bytes.
struct Opaque(Connection);

impl<C: Codec<BenchmarkMessage>> Connect for Echo<C> {
    const WIRE: Wire = Wire::new("tcp+framed", C::NAME);

    async fn connect(target: &Target) -> CallResult<Self> {
        let connection = Connection::open(target).await?;
        Ok(Self {
            connection,
            codec: PhantomData,
        })
    }

    fn settings(lane: Lane) -> Settings {
        settings(lane)
    }
}

impl<C: Codec<BenchmarkMessage>> EchoCalls for Echo<C> {
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        let unsent = self.connection.send(|frame| C::encode(&request, frame))?;
        drop(request);
        let reply = self.connection.receive(unsent, C::decode).await?;
        reply.map_err(|error| CallError::fatal(FailureKind::Protocol, error.to_string()))
    }
}

impl Connect for Opaque {
    const WIRE: Wire = Wire::new("tcp+framed", "opaque");

    async fn connect(target: &Target) -> CallResult<Self> {
        Connection::open(target).await.map(Self)
    }

    fn settings(lane: Lane) -> Settings {
        settings(lane)
    }
}

impl PayloadCalls for Opaque {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let unsent = self.0.send(|frame| frame.extend_from_slice(&request))?;
        self.0.receive(unsent, Bytes::copy_from_slice).await
    }
}

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
        .main()
}
