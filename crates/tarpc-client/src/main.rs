//! Client of the tarpc stack: tarpc over the connections that the harness dials.

mod connection;
mod failure;

use std::marker::PhantomData;
use std::process::ExitCode;

use bench_core::codec::{Bincode, Json, MessagePack};
use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Registry, Settings, Target};
use bytes::Bytes;
use connection::Connection;
use tarpc_api::{BenchmarkRequest, BenchmarkResponse, Format};

/// A connection in one format.
struct Tarpc<F> {
    connection: Connection,
    format: PhantomData<F>,
}

impl<F: Format> Connect for Tarpc<F> {
    const WIRE: Wire = Wire::new("tcp+framed", F::NAME);
    const SHARE: Option<fn(&Self) -> Self> = Some(|own| Self {
        connection: own.connection.clone(),
        format: PhantomData,
    });

    async fn connect(target: &Target) -> CallResult<Self> {
        Ok(Self {
            connection: Connection::open::<F>(target).await?,
            format: PhantomData,
        })
    }

    fn settings(lane: Lane) -> Settings {
        connection::settings(lane)
    }
}

impl<F: Format> EchoCalls for Tarpc<F> {
    type Message = BenchmarkMessage;

    async fn say(&mut self, message: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        match self.connection.call(BenchmarkRequest::Say { message }).await? {
            BenchmarkResponse::Say(reply) => Ok(reply),
            BenchmarkResponse::Exchange(_) => Err(failure::of_another_method()),
        }
    }
}

impl<F: Format> PayloadCalls for Tarpc<F> {
    async fn exchange(&mut self, body: Bytes) -> CallResult<Bytes> {
        let message = PayloadMessage { body };
        match self.connection.call(BenchmarkRequest::Exchange { message }).await? {
            BenchmarkResponse::Exchange(reply) => Ok(reply.body),
            BenchmarkResponse::Say(_) => Err(failure::of_another_method()),
        }
    }
}

fn main() -> ExitCode {
    Registry::new("tarpc", "tarpc")
        .echo::<Tarpc<Bincode>>()
        .payload::<Tarpc<Bincode>>()
        .echo::<Tarpc<Json>>()
        .payload::<Tarpc<Json>>()
        .echo::<Tarpc<MessagePack>>()
        .payload::<Tarpc<MessagePack>>()
        .main()
}
