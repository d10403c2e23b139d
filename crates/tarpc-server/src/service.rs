//! tarpc's service trait, answered by the suite's handler.

use bench_core::handler::Handler;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use tarpc::context::Context;
use tarpc_api::Benchmark;

#[derive(Clone)]
pub struct Service {
    pub handler: Handler,
}

impl Benchmark for Service {
    async fn say(self, _: Context, message: BenchmarkMessage) -> BenchmarkMessage {
        self.handler.echo(message).await
    }

    async fn exchange(self, _: Context, message: PayloadMessage) -> PayloadMessage {
        self.handler.payload(message).await
    }
}
