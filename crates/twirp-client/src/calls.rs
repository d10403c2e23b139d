//! Twirp's calls: a codec over a kind of connection.

use std::marker::PhantomData;

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use bench_load::{CallResult, Connect, EchoCalls, PayloadCalls, Settings, Target};
use bytes::Bytes;
use twirp_api::{BenchmarkMessage, Codec, PayloadMessage};

use crate::failure;
use crate::http1::{self, Http1};
use crate::http2::{self, Http2};
use crate::requests::{Method, Transport};

/// Messages of one codec over one kind of connection.
pub struct Twirp<T, C> {
    transport: T,
    codec: PhantomData<C>,
}

impl<C: Codec> Connect for Twirp<Http1, C> {
    const WIRE: Wire = Wire::new("http1", C::NAME);

    async fn connect(target: &Target) -> CallResult<Self> {
        Http1::connect(target, C::CONTENT_TYPE).await.map(Self::over)
    }

    fn settings(lane: Lane) -> Settings {
        http1::settings(lane)
    }
}

impl<C: Codec> Connect for Twirp<Http2, C> {
    const WIRE: Wire = Wire::new("h2c", C::NAME);
    const SHARE: Option<fn(&Self) -> Self> = Some(|shared| Self::over(shared.transport.clone()));

    async fn connect(target: &Target) -> CallResult<Self> {
        Http2::connect(target, C::CONTENT_TYPE).await.map(Self::over)
    }

    fn settings(lane: Lane) -> Settings {
        http2::settings(lane)
    }
}

impl<T, C> Twirp<T, C> {
    fn over(transport: T) -> Self {
        let codec = PhantomData;
        Self { transport, codec }
    }
}

impl<T: Transport, C: Codec> EchoCalls for Twirp<T, C>
where
    Self: Connect,
{
    type Message = BenchmarkMessage;

    async fn say(&mut self, request: BenchmarkMessage) -> CallResult<BenchmarkMessage> {
        let reply = self.transport.post(Method::Say, C::encode(&request)).await?;
        C::decode(reply).map_err(failure::of_message)
    }
}

impl<T: Transport, C: Codec> PayloadCalls for Twirp<T, C>
where
    Self: Connect,
{
    async fn exchange(&mut self, request: Bytes) -> CallResult<Bytes> {
        let request = PayloadMessage { body: request };
        let reply = self.transport.post(Method::Exchange, C::encode(&request)).await?;
        C::decode(reply)
            .map(|reply: PayloadMessage| reply.body)
            .map_err(failure::of_message)
    }
}
