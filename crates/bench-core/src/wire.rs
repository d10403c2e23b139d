//! What goes over the connection: a transport (with its framing) and a codec.

use std::fmt;

/// One variant of a stack, named `transport/codec` by `--wire`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Transport with its framing, for example `tcp+framed` or `h2`.
    pub transport: &'static str,
    /// How a message becomes bytes, for example `protobuf`.
    pub codec: &'static str,
}

impl Wire {
    /// A wire out of its two halves.
    pub const fn new(transport: &'static str, codec: &'static str) -> Self {
        Self { transport, codec }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.transport, self.codec))
    }
}
