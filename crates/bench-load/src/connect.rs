//! What a framework implements.

use std::collections::BTreeMap;

use bench_core::failure::CallError;
use bench_core::lane::Lane;
use bench_core::message::{BenchmarkMessage, EchoMessage};
use bench_core::wire::Wire;
use bytes::Bytes;

use crate::target::Target;

/// Outcome of one call.
pub type CallResult<T> = Result<T, CallError>;

/// Effective settings by name, for the record.
pub type Settings = BTreeMap<String, serde_json::Value>;

/// A connection of a framework's client over one wire.
///
/// Nothing here is `Send`: each client thread has a single-threaded runtime of its own, with its own callers and connections; or, for a
/// library that blocks, one connection and its caller.
pub trait Connect: Sized + 'static {
    /// What goes over the connection.
    const WIRE: Wire;

    /// How a second caller gets the same connection. `None`: a connection carries one call at a time, and `--pool` is refused.
    const SHARE: Option<fn(&Self) -> Self> = None;

    /// True for a library whose calls block. Each connection then has a thread of its own, without a runtime: sockets come from
    /// `target.dial_blocking()`, and no future here may ever wait for anything but its thread.
    /// `--timeout` limits its calls; opening a connection it limits only as far as the dialling goes: a handshake that waits is not cut off.
    const BLOCKING: bool = false;

    /// Opens one connection, by `target.dial()` wherever the library takes a socket.
    ///
    /// # Errors
    /// With the kind that the failure is counted as.
    fn connect(target: &Target) -> impl Future<Output = CallResult<Self>>;

    /// Settings of the library as they are in effect in this lane.
    fn settings(lane: Lane) -> Settings;
}

/// Calls of the echo service.
pub trait EchoCalls: Connect {
    /// The library's own type of the message.
    type Message: EchoMessage + From<BenchmarkMessage> + 'static;

    /// One call: everything between the message and its reply, encoding and decoding included.
    ///
    /// # Errors
    /// With the kind that the failure is counted as, and whether the connection may be used again.
    fn say(&mut self, request: Self::Message) -> impl Future<Output = CallResult<Self::Message>>;
}

/// Calls of the payload service.
pub trait PayloadCalls: Connect {
    /// One call: bytes there, the same bytes back.
    ///
    /// # Errors
    /// As [`EchoCalls::say`].
    fn exchange(&mut self, request: Bytes) -> impl Future<Output = CallResult<Bytes>>;
}
