//! tarpc's client over one connection.

use bench_core::lane::Lane;
use bench_load::{CallResult, Settings, Target};
use tarpc::client::{self, Channel, Config};
use tarpc::context::{self, Context};
use tarpc_api::{
    BenchmarkRequest, BenchmarkResponse, CALLS_AT_ONCE, DEADLINE_ADDED, FRAME_LIMIT, Format, direct_transport, library_transport,
    write_boundary_bytes,
};

use crate::failure;

/// One connection; clones share it. A task of tarpc's sends and receives for all of them.
#[derive(Clone)]
pub struct Connection {
    channel: Channel<BenchmarkRequest, BenchmarkResponse>,
    /// The tuned lane has one context for all calls: making one reads the clock and looks for a trace that nobody collects.
    context: Option<Context>,
}

impl Connection {
    pub async fn open<F: Format>(target: &Target) -> CallResult<Self> {
        let stream = target.dial().await?;
        Ok(match target.lane {
            Lane::Default => Self {
                channel: client::new(config(), library_transport::<F, _, _>(stream)).spawn(),
                context: None,
            },
            Lane::Tuned => Self {
                channel: client::new(config(), direct_transport::<F, _>(stream)).spawn(),
                context: Some(new_context()),
            },
        })
    }

    /// What the generated stubs do, except that they panic when the reply is one of another method.
    pub async fn call(&self, request: BenchmarkRequest) -> CallResult<BenchmarkResponse> {
        let context = self.context.unwrap_or_else(new_context);
        self.channel.call(context, request).await.map_err(failure::of_call)
    }
}

/// tarpc's context, with a deadline that leaves time limits to the harness: a call that it cuts off is dropped, and tarpc cancels it.
fn new_context() -> Context {
    let mut context = context::current();
    context.deadline += DEADLINE_ADDED;
    context
}

/// tarpc's own caps would queue calls unseen.
fn config() -> Config {
    let mut config = Config::default();
    config.max_in_flight_requests = CALLS_AT_ONCE;
    config.pending_request_buffer = CALLS_AT_ONCE;
    config
}

pub fn settings(lane: Lane) -> Settings {
    let (transport, context) = match lane {
        Lane::Default => ("tarpc::serde_transport", "for each call"),
        Lane::Tuned => ("tokio_util::codec::Framed", "for each connection"),
    };
    let config = config();
    Settings::from([
        ("transport".to_owned(), transport.into()),
        ("context".to_owned(), context.into()),
        ("frame_limit_bytes".to_owned(), FRAME_LIMIT.into()),
        ("write_boundary_bytes".to_owned(), write_boundary_bytes(lane).into()),
        ("max_in_flight_requests".to_owned(), config.max_in_flight_requests.into()),
        ("pending_request_buffer".to_owned(), config.pending_request_buffer.into()),
        ("deadline_added_s".to_owned(), DEADLINE_ADDED.as_secs().into()),
    ])
}
