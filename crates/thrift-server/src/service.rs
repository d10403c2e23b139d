//! Thrift's service trait, answered by the suite's handler.

use std::cell::Cell;
use std::rc::Rc;

use bench_core::handler::Handler;
use thrift_api::{BenchSyncHandler, BenchmarkMessage};

/// The service of one connection.
pub struct Service {
    pub handler: Handler,
    /// Calls that reached the service. One that did not was answered by an exception: its method is unknown, or it did not decode.
    pub reached: Rc<Cell<u64>>,
}

impl Service {
    fn reached(&self) {
        self.reached.set(self.reached.get() + 1);
    }
}

impl BenchSyncHandler for Service {
    fn handle_say(&self, request: BenchmarkMessage) -> thrift::Result<BenchmarkMessage> {
        self.reached();
        Ok(self.handler.echo_blocking(request))
    }

    fn handle_exchange(&self, body: Vec<u8>) -> thrift::Result<Vec<u8>> {
        self.reached();
        Ok(self.handler.payload_blocking(body))
    }
}
