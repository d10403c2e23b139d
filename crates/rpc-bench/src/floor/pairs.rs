//! Connections over loopback with both ends in this process.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};

use super::frame::Connection;

/// Connections that may wait to be accepted; the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;
/// Longest wait for one connection. Over loopback it takes some ten microseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The ends of all connections, dealt round robin: one list per thread of a side.
#[derive(Debug)]
pub struct Pairs {
    /// The accepting ends.
    pub server: Vec<Vec<Connection>>,
    /// The connecting ends, in the same order.
    pub client: Vec<Vec<Connection>>,
}

/// Makes `count` connections and deals them to `threads` threads of each side.
///
/// # Errors
/// If the machine has no loopback, or not that many descriptors or local ports.
pub fn connect(count: usize, threads: usize) -> Result<Pairs> {
    let listener = listener().context("cannot listen on 127.0.0.1: is the loopback interface up?")?;
    let address = listener.local_addr().context("cannot read the address just bound")?;
    let mut pairs = Pairs {
        server: (0..threads).map(|_| Vec::new()).collect(),
        client: (0..threads).map(|_| Vec::new()).collect(),
    };
    for index in 0..count {
        let (server, client) = pair(&listener, address).with_context(|| {
            format!(
                "cannot open loopback connection {} of {count}: use fewer, or raise `ulimit -n` and net.ipv4.ip_local_port_range",
                index + 1
            )
        })?;
        pairs.server[index % threads].push(server);
        pairs.client[index % threads].push(client);
    }
    Ok(pairs)
}

fn listener() -> Result<TcpListener> {
    // Not `TcpListener::bind`, which has a backlog of 128.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
    listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

/// The server's and the client's end of a new connection.
fn pair(listener: &TcpListener, address: SocketAddr) -> Result<(Connection, Connection)> {
    let client = TcpStream::connect_timeout(&address, PATIENCE).context("cannot connect")?;
    let server = accept(listener, client.local_addr()?)?;
    for stream in [&server, &client] {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
    }
    // The client closes first, with calls in flight. With a reset, not a farewell: the server side learns of it at once,
    // and no local port is left in TIME_WAIT for a minute, where many runs would use them up.
    set_socket_linger(&client, Some(Duration::ZERO))?;
    Ok((Connection::new(server), Connection::new(client)))
}

/// Accepts the connection that comes from `expected`; one from anybody else is dropped.
fn accept(listener: &TcpListener, expected: SocketAddr) -> Result<TcpStream> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match listener.accept() {
            Ok((stream, from)) if from == expected => return Ok(stream),
            Ok(_) => continue,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error).context("cannot accept"),
        }
        let left = deadline.saturating_duration_since(Instant::now());
        ensure!(
            !left.is_zero(),
            "an established connection was not offered within {} s",
            PATIENCE.as_secs()
        );
        poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&Timespec::try_from(left)?)).context("cannot poll")?;
    }
}
