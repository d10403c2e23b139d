//! One call at a time on a connection.

use std::marker::PhantomData;

use bench_core::codec::Codec;
use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_core::message::BenchmarkMessage;
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Settings, Target};
use bytes::Bytes;

use crate::connection::Connection;

/// Messages of one codec.
pub struct Echo<C> {
    connection: Connection,
    codec: PhantomData<C>,
}

/// Opaque bytes.
pub struct Opaque(Connection);

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
        crate::settings(lane)
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
        crate::settings(lane)
    }
}

impl PayloadCalls for Opaque {
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let unsent = self.0.send(|frame| frame.extend_from_slice(&request))?;
        self.0.receive(unsent, Bytes::copy_from_slice).await
    }
}
