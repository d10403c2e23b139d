//! One connection on its thread: the loop of Thrift's own `TServer` around the generated processor.
//!
//! `TServer` itself takes an address only, cannot be stopped, and has a fixed number of threads: connections beyond it wait for ever
//! without an error.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bench_core::lane::Lane;
use bench_serve::Serve;
use bench_serve::blocking::Socket;
use thrift::TransportErrorKind;
use thrift::protocol::{
    TBinaryInputProtocolFactory, TBinaryOutputProtocolFactory, TCompactInputProtocolFactory, TCompactOutputProtocolFactory, TInputProtocol,
    TInputProtocolFactory, TOutputProtocol, TOutputProtocolFactory,
};
use thrift::server::TProcessor;
use thrift::transport::{
    TBufferedReadTransportFactory, TBufferedWriteTransportFactory, TFramedReadTransportFactory, TFramedWriteTransportFactory,
    TReadTransportFactory, TWriteTransportFactory,
};
use thrift_api::{BenchSyncProcessor, Encoding, Framing, Protocols, Variant, sentence, with_protocols};

use crate::service::Service;

/// Answers calls until the peer closes the connection or the server is to stop.
///
/// # Errors
/// Why the connection ended before its peer closed it.
pub fn serve<V: Variant>(socket: Socket, serve: &Serve) -> Result<(), String> {
    let progress = Arc::new(Progress::default());
    let inbound = Inbound {
        socket: socket.clone(),
        progress: progress.clone(),
    };
    let calls = Calls { serve, progress };
    match serve.lane {
        Lane::Default => {
            let (input, output) = from_factories::<V>(inbound, socket);
            calls.with(input, output)
        }
        Lane::Tuned => with_protocols::<V, _>(Lane::Tuned, inbound, socket, calls),
    }
}

/// How protocols and transports call each other, for the record.
pub fn protocol_objects(lane: Lane) -> &'static str {
    match lane {
        Lane::Default => "boxed, from factories",
        Lane::Tuned => "concrete types",
    }
}

type BoxedProtocols = (Box<dyn TInputProtocol + Send>, Box<dyn TOutputProtocol + Send>);

/// As `TServer` makes them for each connection.
fn from_factories<V: Variant>(read: Inbound, write: Socket) -> BoxedProtocols {
    let (input, output): (Box<dyn TReadTransportFactory>, Box<dyn TWriteTransportFactory>) = match V::FRAMING {
        Framing::Buffered => (
            Box::new(TBufferedReadTransportFactory::new()),
            Box::new(TBufferedWriteTransportFactory::new()),
        ),
        Framing::Framed => (
            Box::new(TFramedReadTransportFactory::new()),
            Box::new(TFramedWriteTransportFactory::new()),
        ),
    };
    let (read, write) = (input.create(Box::new(read)), output.create(Box::new(write)));
    match V::ENCODING {
        Encoding::Binary => (
            TBinaryInputProtocolFactory::new().create(read),
            TBinaryOutputProtocolFactory::new().create(write),
        ),
        Encoding::Compact => (
            TCompactInputProtocolFactory::new().create(read),
            TCompactOutputProtocolFactory::new().create(write),
        ),
    }
}

/// The loop over a connection's calls.
struct Calls<'a> {
    serve: &'a Serve,
    progress: Arc<Progress>,
}

impl Protocols for Calls<'_> {
    type Output = Result<(), String>;

    fn with<I: TInputProtocol + 'static, O: TOutputProtocol + 'static>(self, mut input: I, mut output: O) -> Self::Output {
        let reached = Rc::new(Cell::new(0));
        let processor = BenchSyncProcessor::new(Service {
            handler: self.serve.handler.clone(),
            reached: reached.clone(),
        });
        while !self.serve.is_stopping() {
            let (calls, received) = (reached.get(), self.progress.received());
            let processed = processor.process(&mut input, &mut output);
            let inside_a_call = self.progress.received() != received;
            match processed {
                Ok(()) if reached.get() != calls => {}
                Err(thrift::Error::Transport(error)) if error.kind == TransportErrorKind::EndOfFile && !inside_a_call => break,
                _ if self.progress.ended() && self.serve.is_stopping() => break,
                _ if self.progress.ended() => return Err("the peer closed the connection inside a call".to_owned()),
                Err(error) => return Err(sentence(&error)),
                // Where the next call begins nobody knows: the library leaves what it did not read.
                Ok(()) => {
                    return Err("a call of an unknown method, or one that does not decode; it was answered by an exception".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// What has come over a connection. Shared with the reading half, which the library owns; atomic only because that must be `Send`.
#[derive(Default)]
struct Progress {
    reads: AtomicU64,
    ended: AtomicU64,
}

impl Progress {
    /// Reads that brought something.
    fn received(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// True once the peer has closed its half, or the harness this one.
    fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed) > 0
    }
}

/// The reading half, which tells an end between two calls from one inside a call: to the library both are an end of file.
struct Inbound {
    socket: Socket,
    progress: Arc<Progress>,
}

impl Read for Inbound {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let received = self.socket.read(buffer)?;
        let counter = if received > 0 { &self.progress.reads } else { &self.progress.ended };
        // One writer: no locked instruction.
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok(received)
    }
}
