//! What a codec costs by itself: no sockets, everything in the cache.

use bench_core::codec::{Bincode, Codec, Json, MessagePack, Protobuf};
use bench_core::message::{BenchmarkMessage, benchmark_reply, benchmark_request};
use serde::Serialize;
use std::hint::black_box;

use crate::calibrate::per_round;

/// Microseconds, medians.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CodecCost {
    /// Bytes of the request.
    pub request_bytes: usize,
    /// Bytes of the reply.
    pub reply_bytes: usize,
    /// Encoding the request and decoding the reply.
    pub client_us: f64,
    /// Decoding the request and encoding the reply.
    pub server_us: f64,
}

impl CodecCost {
    /// Measures a codec by its name in wires; `None` for one that only its framework has.
    pub fn of(codec: &str) -> Option<Self> {
        match codec {
            "protobuf" => Some(cost::<Protobuf>()),
            "json" => Some(cost::<Json>()),
            "msgpack" => Some(cost::<MessagePack>()),
            "bincode" => Some(cost::<Bincode>()),
            _ => None,
        }
    }
}

fn cost<C: Codec<BenchmarkMessage>>() -> CodecCost {
    let (request, reply) = (benchmark_request(), benchmark_reply());
    let (request_bytes, reply_bytes) = (encoded::<C>(&request), encoded::<C>(&reply));
    let mut buffer = Vec::new();
    let mut encode = |message: &BenchmarkMessage| {
        per_round(|| {
            buffer.clear();
            C::encode(black_box(message), &mut buffer);
        })
    };
    let decode = |bytes: &[u8]| per_round(|| drop(black_box(C::decode(black_box(bytes)))));
    CodecCost {
        request_bytes: request_bytes.len(),
        reply_bytes: reply_bytes.len(),
        client_us: (encode(&request) + decode(&reply_bytes)) / 1e3,
        server_us: (decode(&request_bytes) + encode(&reply)) / 1e3,
    }
}

fn encoded<C: Codec<BenchmarkMessage>>(message: &BenchmarkMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    C::encode(message, &mut bytes);
    bytes
}
