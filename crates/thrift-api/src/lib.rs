//! What Thrift server and client share: the code that the Thrift compiler made, the message as the benchmark uses it, and the wires.
//!
//! `benchmark.rs` is committed, so that nobody needs the compiler; `regenerate.sh` makes it again, and a test compares the two where
//! the compiler is there.

#[allow(warnings, missing_docs, clippy::all, clippy::unwrap_used)]
mod benchmark;
mod message;
mod wires;

pub use benchmark::{BenchSyncClient, BenchSyncHandler, BenchSyncProcessor, BenchmarkMessage, TBenchSyncClient};
pub use wires::{
    BufferedBinary, BufferedCompact, Encoding, FramedBinary, FramedCompact, Framing, Protocols, TUNED_BUFFER_BYTES, Variant, settings,
    with_protocols,
};

/// One sentence about an error of the library, whose own text is its kind alone.
pub fn sentence(error: &thrift::Error) -> String {
    match error {
        thrift::Error::Transport(inner) => format!("{error}: {}", inner.message),
        thrift::Error::Protocol(inner) => format!("{error}: {}", inner.message),
        thrift::Error::Application(inner) => format!("{error}: {}", inner.message),
        thrift::Error::User(inner) => inner.to_string(),
    }
}
