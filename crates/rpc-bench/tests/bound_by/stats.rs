//! A stats endpoint that says what a test wants.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use bench_core::server::ServerStats;

use crate::common::http;

/// What a real endpoint says now.
pub fn at(addr: SocketAddr) -> ServerStats {
    let (status, body) = http(addr, b"GET /stats HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(status, "200");
    serde_json::from_str(&body).unwrap()
}

/// Answers every request with `say`, until the test's process ends.
pub fn serve(say: impl Fn() -> ServerStats + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            // All of the request: an end with some of it unread would be a reset.
            while read_line(&mut stream) != "\r\n" {}
            let body = serde_json::to_string(&say()).unwrap();
            // A client that has gone needs no answer.
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.get_mut().write_all(answer.as_bytes());
        }
    });
    addr
}

fn read_line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    assert!(stream.read_line(&mut line).unwrap() > 0, "half a request");
    line
}
