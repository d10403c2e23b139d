//! Frames of the raw TCP stack: the suite's floor with a codec.
//!
//! A frame is a `u32` big-endian length and as many bytes. A server refuses by a frame whose length has its highest bit set; the rest is
//! the length of a text that says why, and the connection ends after it. No limit comes near that bit.
//!
//! One read and one write per call: a frame is written by one system call, and read by one where it fits the buffer. Both buffers are the
//! thread's; a connection keeps only what has not come whole.

pub mod mux;
mod reader;
mod socket;
mod writer;

pub use reader::{FrameReader, ReadError};
pub use writer::{Unsent, WriteError, begin_frame, send_frame, send_refusal};

/// Largest frame that is accepted, without its length: 8 MiB, as tokio-util's `LengthDelimitedCodec`. Checked before any memory is
/// taken for it.
pub const FRAME_LIMIT: usize = 8 * 1024 * 1024;

/// Bytes of the length before a frame.
pub const PREFIX_BYTES: usize = 4;

/// Marks a refusal in the length.
pub const REFUSAL_BIT: u32 = 1 << 31;

/// Marks a frame of the multiplexed form in the length, so that the two forms cannot take each other's frames for their own.
pub const MUX_BIT: u32 = 1 << 30;

/// Longest text of a refusal, in bytes.
pub const REFUSAL_LIMIT: usize = 1024;

/// Once a frame has begun, the rest must come, or be taken, within this time (not in the multiplexed form). Between frames a peer may be silent for ever.
pub const FRAME_TIME: std::time::Duration = std::time::Duration::from_secs(10);
