//! The service as tarpc has it, and the transports of both lanes. What goes over the connection is the same in both.

mod direct;
mod format;
mod library;

use std::time::Duration;

use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, PayloadMessage};
use tarpc::{ClientMessage, Response};

pub use direct::{DirectTransport, direct_transport};
pub use format::{Format, Message};
pub use library::{LibraryTransport, library_transport};

/// Both services of the suite: a connection of tarpc carries one service, and a server answers both workloads on every wire.
#[tarpc::service]
pub trait Benchmark {
    /// Sends the message back with field1 = "OK" and field2 = 100.
    async fn say(message: BenchmarkMessage) -> BenchmarkMessage;
    /// Sends the bytes back unchanged.
    async fn exchange(message: PayloadMessage) -> PayloadMessage;
}

/// What a client sends.
pub type ToServer = ClientMessage<BenchmarkRequest>;

/// What a server sends.
pub type ToClient = Response<BenchmarkResponse>;

/// Largest frame, without its length, in bytes: tokio-util's default, said in full because 1 MiB in base64 must fit.
pub const FRAME_LIMIT: usize = 8 * 1024 * 1024;

/// Calls that one connection takes at once, on either side. tarpc's own caps (1000, 100 and 100) would queue calls unseen: METHODOLOGY.md,
/// "Fairness". No more callers than this can be asked for, and what is not used takes no memory.
pub const CALLS_AT_ONCE: usize = 1 << 20;

/// Put on top of tarpc's deadline of 10 s: time limits are the harness's, the same for every stack.
pub const DEADLINE_ADDED: Duration = Duration::from_secs(30 * 24 * 3600);

/// Bytes from which on a transport is flushed before it takes another message.
pub const fn write_boundary_bytes(lane: Lane) -> usize {
    match lane {
        Lane::Default => library::WRITE_BOUNDARY,
        Lane::Tuned => direct::WRITE_BOUNDARY,
    }
}
