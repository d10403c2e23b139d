//! Listening, and dealing accepted sockets to the runtimes.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bench_core::failure_log::FailureLog;
use socket2::{Domain, Socket, Type};
use tokio::sync::mpsc;

use crate::flags::Addresses;

/// Connections that may wait to be accepted. std and mio use 128, which drops a client's burst of thousands of connects.
pub(crate) const BACKLOG: i32 = 4096;
/// Pause after a failed accept (out of file descriptors, for example), so that it does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Listens on the first of the addresses that can be bound.
pub(crate) fn bind(addresses: &Addresses, flag: &str) -> anyhow::Result<TcpListener> {
    let mut last = anyhow!("the name stands for no address");
    for &addr in &addresses.all {
        match listen(addr) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = anyhow!(error),
        }
    }
    Err(last).with_context(|| {
        format!(
            "cannot listen on {} (stop what listens there, or choose another address with {flag})",
            addresses.text
        )
    })
}

fn listen(addr: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
    // A port whose last server was stopped a moment ago is free for the next one.
    socket.set_reuse_address(true)?;
    // Fairness: accepted sockets inherit this on Linux, whatever the library would do.
    socket.set_tcp_nodelay(true)?;
    socket.bind(&addr.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Accepts until a runtime thread has ended, and deals the sockets round-robin.
pub(crate) async fn accept_and_deal(
    listener: tokio::net::TcpListener,
    runtimes: Vec<mpsc::UnboundedSender<std::net::TcpStream>>,
    accepted: Arc<AtomicU64>,
    failures: FailureLog,
) {
    for runtime in runtimes.iter().cycle() {
        let socket = loop {
            match listener.accept().await.and_then(|(socket, _)| socket.into_std()) {
                Ok(socket) => break socket,
                Err(error) => {
                    failures.add(&format!("cannot accept a connection: {error}"));
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        };
        accepted.fetch_add(1, Ordering::Relaxed);
        if runtime.send(socket).is_err() {
            break;
        }
    }
}
