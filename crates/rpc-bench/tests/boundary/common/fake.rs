//! A server of the raw TCP stack that does what a test tells it to do.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bench_core::message::{BenchmarkMessage, EchoMessage as _};
use prost::Message as _;

use super::{Outcome, Process};

/// What a fake server does with a call.
pub enum Act {
    /// These bytes, as they are.
    Bytes(Vec<u8>),
    /// These bytes, then the end of the connection.
    LastBytes(Vec<u8>),
    /// Nothing; the connection stays open.
    Silence,
}

/// A frame with its length.
pub fn frame(payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32).to_be_bytes(), payload].concat()
}

/// A refusal with its reason.
pub fn refusal(reason: &str) -> Vec<u8> {
    [&(reason.len() as u32 | 1 << 31).to_be_bytes(), reason.as_bytes()].concat()
}

/// The right reply.
pub fn right(mut message: BenchmarkMessage) -> Act {
    message.answer();
    Act::Bytes(frame(&message.encode_to_vec()))
}

/// A reply in which one field differs.
pub fn wrong(mut message: BenchmarkMessage) -> Act {
    message.answer();
    message.field3 += 1;
    Act::Bytes(frame(&message.encode_to_vec()))
}

type Behaviour = dyn Fn(u64, BenchmarkMessage) -> Act + Send + Sync;

/// A fake server, listening. Call 0 is the one that a client verifies.
pub struct Fake {
    pub addr: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    behaviour: Box<Behaviour>,
    calls: AtomicU64,
    connections: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
    stopped: AtomicBool,
}

impl Fake {
    pub fn start(behaviour: impl Fn(u64, BenchmarkMessage) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            behaviour: Box::new(behaviour),
            calls: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            open: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(Ordering::SeqCst) {
                    return;
                }
                // Out of descriptors: the count below is what the test looks at.
                let Ok(stream) = stream else { continue };
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                accepting.open.lock().unwrap().extend(stream.try_clone());
                let serving = accepting.clone();
                thread::spawn(move || serving.serve(stream));
            }
        });
        Self { addr, shared }
    }

    /// Calls that came.
    pub fn calls(&self) -> u64 {
        self.shared.calls.load(Ordering::SeqCst)
    }

    /// Connections that were accepted.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Closes all connections; new ones are welcome.
    pub fn cut_connections(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            // It may be gone already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Stops listening, and closes all connections.
    pub fn die(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The first wakes the accepting thread, which then drops the listener: before the cut, or a client would come back to it.
        super::wait_for("the end of the listener", || TcpStream::connect(self.addr).is_err());
        self.cut_connections();
    }

    /// The raw TCP client on this server; the record goes to stdout.
    pub fn client_process(&self, args: &[&str]) -> Process {
        let addr = self.addr.to_string();
        let fixed = ["-s", &addr, "--stats", "none", "--output", "json", "--progress", "never"];
        Process::start("tcp-client", &[&fixed, args].concat())
    }

    pub fn client(&self, args: &[&str]) -> Outcome {
        self.client_process(args).end()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.die();
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        // Ends at any error: the peer is gone, or the test has cut the connection.
        while let Some(message) = read_message(&mut stream) {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            let (bytes, last) = match (self.behaviour)(call, message) {
                Act::Bytes(bytes) => (bytes, false),
                Act::LastBytes(bytes) => (bytes, true),
                Act::Silence => continue,
            };
            if stream.write_all(&bytes).is_err() || last {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

fn read_message(stream: &mut TcpStream) -> Option<BenchmarkMessage> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut payload = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut payload).ok()?;
    BenchmarkMessage::decode(payload.as_slice()).ok()
}
