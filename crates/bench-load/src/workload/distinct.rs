//! Every call with a message of its own: a reply that belongs to another call, or that was canned, is a wrong reply.

use std::sync::atomic::{AtomicU64, Ordering};

use bench_core::message::{EchoMessage as _, REQUEST_BYTES, benchmark_request};

use super::{Workload, WorkloadSpec};
use crate::connect::{CallResult, EchoCalls};

/// Numbers the messages of the process, so that no two are alike whatever thread sends them. Shared memory in the loop: this workload is
/// for checks, not for measuring.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The echo service, with messages that differ from call to call.
#[derive(Clone)]
pub struct Distinct<M> {
    base: M,
    reply: M,
}

impl<C: EchoCalls> Workload<C> for Distinct<C::Message> {
    type Request = C::Message;
    type Reply = C::Message;
    const NAME: &'static str = "distinct";

    fn new(_spec: &WorkloadSpec) -> Self {
        let base = C::Message::from(benchmark_request());
        Self { reply: base.clone(), base }
    }

    fn payload_bytes(_spec: &WorkloadSpec) -> usize {
        REQUEST_BYTES
    }

    fn prepare(&mut self) -> C::Message {
        let mut request = self.base.clone();
        request.mutate(NEXT.fetch_add(1, Ordering::Relaxed));
        self.reply = request.clone();
        self.reply.answer();
        request
    }

    fn call(connection: &mut C, request: C::Message) -> impl Future<Output = CallResult<C::Message>> {
        connection.say(request)
    }

    fn is_right(&self, reply: &C::Message) -> bool {
        *reply == self.reply
    }

    fn mutated(spec: &WorkloadSpec) -> Self {
        <Self as Workload<C>>::new(spec)
    }
}
