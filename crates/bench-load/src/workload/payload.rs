//! Opaque bytes there and back: what a stack costs without a codec.

use bench_core::message::payload;
use bytes::Bytes;

use super::{Workload, WorkloadSpec};
use crate::connect::{CallResult, PayloadCalls};

/// The same bytes in every call; a clone of them copies nothing.
#[derive(Clone)]
pub struct Payload {
    body: Bytes,
}

impl<C: PayloadCalls> Workload<C> for Payload {
    type Request = Bytes;
    type Reply = Bytes;
    const NAME: &'static str = "payload";
    const SIZED: bool = true;

    fn new(spec: &WorkloadSpec) -> Self {
        Self {
            body: payload(spec.payload_bytes),
        }
    }

    fn payload_bytes(spec: &WorkloadSpec) -> usize {
        spec.payload_bytes
    }

    fn prepare(&mut self) -> Bytes {
        self.body.clone()
    }

    fn call(connection: &mut C, request: Bytes) -> impl Future<Output = CallResult<Bytes>> {
        connection.exchange(request)
    }

    fn is_right(&self, reply: &Bytes) -> bool {
        *reply == self.body
    }

    fn mutated(spec: &WorkloadSpec) -> Self {
        let mut body = payload(spec.payload_bytes).to_vec();
        for (byte, key) in body.iter_mut().zip(key(spec.seed).to_le_bytes().into_iter().cycle()) {
            *byte ^= key;
        }
        Self { body: body.into() }
    }
}

/// Eight bytes that are not all alike for any seed, least of all zero.
fn key(seed: u64) -> u64 {
    (seed ^ 0x9e37_79b9_7f4a_7c15) | 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_changes_every_byte() {
        for seed in [0, 1, 42, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
            assert!(key(seed).to_le_bytes().iter().all(|byte| *byte != 0), "{seed}");
        }
    }
}
