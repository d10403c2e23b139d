//! What is called: a workload makes requests, calls a service, and knows the right reply.

mod distinct;
mod echo;
mod payload;

pub use distinct::Distinct;
pub use echo::Echo;
pub use payload::Payload;

use crate::connect::{CallResult, Connect};

/// Settings that workloads are made from.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSpec {
    /// Bytes of a payload (`--payload`).
    pub payload_bytes: usize,
    /// Seed of whatever varies (`--seed`).
    pub seed: u64,
}

/// One caller's stream of requests to a service over connections of type `C`. Made once per client thread; each of its callers has a
/// clone, which shares what all callers send and expect: a copy each would fill the cache at 500 callers.
pub trait Workload<C: Connect>: Clone + 'static {
    /// What is sent.
    type Request;
    /// What comes back.
    type Reply;
    /// Value of `--workload`.
    const NAME: &'static str;
    /// True when `--payload` says how large its messages are; else they have a size of their own.
    const SIZED: bool = false;

    /// The workload of a thread's callers.
    fn new(spec: &WorkloadSpec) -> Self;

    /// Bytes of a request's message before framing, for the record.
    fn payload_bytes(spec: &WorkloadSpec) -> usize;

    /// Makes the next request. Called before the clock starts.
    fn prepare(&mut self) -> Self::Request;

    /// Makes the call. The only thing between the two readings of the clock.
    fn call(connection: &mut C, request: Self::Request) -> impl Future<Output = CallResult<Self::Reply>>;

    /// Compares every field of the reply with what it should be. Called after the clock has stopped.
    fn is_right(&self, reply: &Self::Reply) -> bool;

    /// The workload of the one verified call before the warm-up: messages that no canned reply answers.
    fn mutated(spec: &WorkloadSpec) -> Self;
}
