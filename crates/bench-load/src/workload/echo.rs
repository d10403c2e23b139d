//! The ancestors' workload: the 581-byte message, answered with 527 bytes.

use std::rc::Rc;

use bench_core::message::{EchoMessage as _, REQUEST_BYTES, benchmark_request};

use super::{Workload, WorkloadSpec};
use crate::connect::{CallResult, EchoCalls};

/// The same message in every call, as the ancestors did.
#[derive(Clone)]
pub struct Echo<M> {
    request: Rc<M>,
    reply: Rc<M>,
}

impl<C: EchoCalls> Workload<C> for Echo<C::Message> {
    type Request = C::Message;
    type Reply = C::Message;
    const NAME: &'static str = "echo";

    fn new(_spec: &WorkloadSpec) -> Self {
        Self::of(benchmark_request().into())
    }

    fn payload_bytes(_spec: &WorkloadSpec) -> usize {
        REQUEST_BYTES
    }

    fn prepare(&mut self) -> C::Message {
        C::Message::clone(&self.request)
    }

    fn call(connection: &mut C, request: C::Message) -> impl Future<Output = CallResult<C::Message>> {
        connection.say(request)
    }

    fn is_right(&self, reply: &C::Message) -> bool {
        *reply == *self.reply
    }

    fn mutated(spec: &WorkloadSpec) -> Self {
        let mut request = C::Message::from(benchmark_request());
        request.mutate(spec.seed);
        Self::of(request)
    }
}

impl<M: bench_core::message::EchoMessage> Echo<M> {
    fn of(request: M) -> Self {
        let mut reply = request.clone();
        reply.answer();
        Self {
            request: Rc::new(request),
            reply: Rc::new(reply),
        }
    }
}
