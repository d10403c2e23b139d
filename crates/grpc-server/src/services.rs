//! tonic's service traits, answered by the suite's handler.

use bench_core::handler::Handler;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use grpc_api::echo_server::Echo;
use grpc_api::payload_server::Payload;
use tonic::{Request, Response, Status};

#[derive(Clone)]
pub struct Services {
    handler: Handler,
}

impl Services {
    pub fn new(handler: Handler) -> Self {
        Self { handler }
    }
}

#[tonic::async_trait]
impl Echo for Services {
    async fn say(&self, request: Request<BenchmarkMessage>) -> Result<Response<BenchmarkMessage>, Status> {
        Ok(Response::new(self.handler.echo(request.into_inner()).await))
    }
}

#[tonic::async_trait]
impl Payload for Services {
    async fn exchange(&self, request: Request<PayloadMessage>) -> Result<Response<PayloadMessage>, Status> {
        Ok(Response::new(self.handler.payload(request.into_inner()).await))
    }
}
