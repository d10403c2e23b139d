//! The four wires, and the library's transports and protocols that make them.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use bench_core::lane::Lane;
use bench_core::wire::Wire;
use serde_json::Value;
use thrift::TConfiguration;
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TCompactInputProtocol, TCompactOutputProtocol, TInputProtocol, TOutputProtocol,
};
use thrift::transport::{
    TBufferedReadTransport, TBufferedWriteTransport, TFramedReadTransport, TFramedWriteTransport, TReadTransport, TWriteTransport,
};

/// Each buffer of a tuned connection. The library's are 4,096 bytes.
pub const TUNED_BUFFER_BYTES: usize = 16 * 1024;
/// The library's own buffers (`READ_CAPACITY`, `WRITE_CAPACITY`), which it does not make public.
const DEFAULT_BUFFER_BYTES: usize = 4096;

/// Where a message begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Only the protocol says.
    Buffered,
    /// After its length.
    Framed,
}

/// How a message becomes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Fixed-length integers.
    Binary,
    /// Variable-length integers, and field ids as differences.
    Compact,
}

/// One of the wires, as a type.
pub trait Variant: 'static {
    /// Its framing.
    const FRAMING: Framing;
    /// Its encoding.
    const ENCODING: Encoding;
    /// Its name.
    const WIRE: Wire = Wire::new(
        match Self::FRAMING {
            Framing::Buffered => "tcp+buffered",
            Framing::Framed => "tcp+framed",
        },
        match Self::ENCODING {
            Encoding::Binary => "binary",
            Encoding::Compact => "compact",
        },
    );
}

macro_rules! variants {
    ($($name:ident: $framing:ident, $encoding:ident;)*) => {$(
        #[doc = concat!(stringify!($framing), " transport, ", stringify!($encoding), " protocol.")]
        pub struct $name;

        impl Variant for $name {
            const FRAMING: Framing = Framing::$framing;
            const ENCODING: Encoding = Encoding::$encoding;
        }
    )*};
}

variants! {
    BufferedBinary: Buffered, Binary;
    FramedBinary: Framed, Binary;
    BufferedCompact: Buffered, Compact;
    FramedCompact: Framed, Compact;
}

/// What is to be done with a connection's two protocols, whatever their types.
pub trait Protocols {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<I: TInputProtocol + 'static, O: TOutputProtocol + 'static>(self, input: I, output: O) -> Self::Output;
}

/// Makes the protocols of a wire over a connection's two halves, as the library's documentation shows, or tuned.
///
/// Tuned, a frame is put together in a buffer below the framed transport, which would else write its length apart from its body and read
/// it so: two segments and two system calls a side.
pub fn with_protocols<V: Variant, P: Protocols>(lane: Lane, read: impl Read + 'static, write: impl Write + 'static, then: P) -> P::Output {
    match (V::FRAMING, lane) {
        (Framing::Buffered, Lane::Default) => encoded::<V, P>(TBufferedReadTransport::new(read), TBufferedWriteTransport::new(write), then),
        (Framing::Framed, Lane::Default) => encoded::<V, P>(TFramedReadTransport::new(read), TFramedWriteTransport::new(write), then),
        (framing, Lane::Tuned) => {
            let read = TBufferedReadTransport::with_capacity(TUNED_BUFFER_BYTES, read);
            let write = TBufferedWriteTransport::with_capacity(TUNED_BUFFER_BYTES, write);
            match framing {
                Framing::Buffered => encoded::<V, P>(read, write, then),
                Framing::Framed => encoded::<V, P>(TFramedReadTransport::new(read), TFramedWriteTransport::new(write), then),
            }
        }
    }
}

fn encoded<V: Variant, P: Protocols>(read: impl TReadTransport + 'static, write: impl TWriteTransport + 'static, then: P) -> P::Output {
    match V::ENCODING {
        // `true`: the strict form, which begins with the protocol's version.
        Encoding::Binary => then.with(TBinaryInputProtocol::new(read, true), TBinaryOutputProtocol::new(write, true)),
        Encoding::Compact => then.with(TCompactInputProtocol::new(read), TCompactOutputProtocol::new(write)),
    }
}

/// Settings of the library as they are in effect in this lane, for the record.
pub fn settings<V: Variant>(lane: Lane) -> BTreeMap<String, Value> {
    let limits = TConfiguration::default();
    let buffer_bytes = match lane {
        Lane::Default => DEFAULT_BUFFER_BYTES,
        Lane::Tuned => TUNED_BUFFER_BYTES,
    };
    let mut settings = BTreeMap::from([
        ("buffer_bytes".to_owned(), buffer_bytes.into()),
        ("string_limit_bytes".to_owned(), limits.max_string_size().into()),
        ("message_limit_bytes".to_owned(), limits.max_message_size().into()),
    ]);
    if V::FRAMING == Framing::Framed {
        settings.insert("frame_limit_bytes".to_owned(), limits.max_frame_size().into());
        settings.insert("frame_in_one_write".to_owned(), (lane == Lane::Tuned).into());
    }
    settings
}
