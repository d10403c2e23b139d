//! Stands between a client and a server that speak HTTP/1.1, and lets calls through as a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::Server;
use crate::stats;

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq)]
pub enum Pass {
    /// It goes through as it is.
    Through,
    /// It goes through when no other one is on its way: a pool of one.
    OneAtATime,
    /// It is answered with 429.
    Refused,
}

/// Starts a gate; `pass` decides by the call's number, of which 0 is the one that a client verifies. Returns its address and that of a
/// stats endpoint that knows it. Both live until the test's process ends.
pub fn start(server: &Server, pass: impl Fn(u64) -> Pass + Send + Sync + 'static) -> (SocketAddr, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let upstream = server.addr();
    let shared = Arc::new((pass, AtomicU64::new(0), Mutex::new(())));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let shared = shared.clone();
            thread::spawn(move || {
                let (pass, calls, one) = &*shared;
                let mut client = BufReader::new(stream.unwrap());
                let mut server = BufReader::new(TcpStream::connect(upstream).unwrap());
                // Ends when either side has gone.
                while let Some(request) = read_message(&mut client) {
                    let answer = match pass(calls.fetch_add(1, Ordering::SeqCst)) {
                        Pass::Refused => Some(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n".to_vec()),
                        Pass::Through => exchange(&mut server, &request),
                        Pass::OneAtATime => {
                            let _turn = one.lock().unwrap();
                            exchange(&mut server, &request)
                        }
                    };
                    let Some(answer) = answer else { return };
                    if client.get_mut().write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let real = server.stats_addr();
    let said = stats::serve(move || {
        let mut stats = stats::at(real);
        stats.info.addr = addr.to_string();
        stats
    });
    (addr, said)
}

fn exchange(server: &mut BufReader<TcpStream>, request: &[u8]) -> Option<Vec<u8>> {
    server.get_mut().write_all(request).ok()?;
    read_message(server)
}

/// Head and body of a request or a response, as they came.
fn read_message(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut message = String::new();
    let mut length = 0;
    loop {
        let from = message.len();
        if stream.read_line(&mut message).ok()? == 0 {
            return None;
        }
        let line = message[from..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some([message.into_bytes(), body].concat())
}
