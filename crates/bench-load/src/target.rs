//! Where the server is, and opening connections to it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use bench_core::failure::{CallError, FailureKind};
use bench_core::lane::Lane;
use bench_host::SharedSocket;
use socket2::{Domain, SockRef, Socket, Type};
use tokio::net::{TcpSocket, TcpStream};

use crate::slot::Slot;

/// The server to call, and how.
#[derive(Clone, Debug)]
pub struct Target {
    /// `HOST:PORT` as it was given.
    pub text: String,
    /// Which settings to run the library with.
    pub lane: Lane,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) dial_limit: Duration,
    /// Who watches over the thread that dials; `None` for tasks.
    pub(crate) slot: Option<Arc<Slot>>,
}

impl Target {
    /// Resolves the name to all its addresses.
    ///
    /// # Errors
    /// One sentence, when the text is no `HOST:PORT` or the name does not resolve.
    pub fn resolve(text: &str, lane: Lane, dial_limit: Duration) -> Result<Self, String> {
        let addresses = resolve(text)?;
        Ok(Self {
            text: text.to_owned(),
            lane,
            addresses,
            dial_limit,
            slot: None,
        })
    }

    /// Opens one TCP connection with TCP_NODELAY set (METHODOLOGY.md, "Fairness"), trying every address of the name.
    ///
    /// # Errors
    /// The last address's error, as [`FailureKind::Refused`] unless it says otherwise.
    pub async fn dial(&self) -> Result<TcpStream, CallError> {
        let mut last = self.no_address();
        for &addr in &self.addresses {
            let attempt = tokio::time::timeout(self.dial_limit, dial(addr));
            match attempt.await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = self.not_connected(addr, error),
                Err(_) => last = self.not_connected(addr, io::ErrorKind::TimedOut.into()),
            }
        }
        Err(last)
    }

    /// [`Target::dial`] for a library that blocks. No time limit is set on the socket, which would be a timer of the kernel's in every
    /// call: the harness shuts it down when a call takes too long.
    ///
    /// # Errors
    /// As those of [`Target::dial`].
    pub fn dial_blocking(&self) -> Result<SharedSocket, CallError> {
        let mut last = self.no_address();
        for &addr in &self.addresses {
            match self.dial_one_blocking(addr) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = self.not_connected(addr, error),
            }
        }
        Err(last)
    }

    fn dial_one_blocking(&self, addr: SocketAddr) -> io::Result<SharedSocket> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None)?;
        socket.set_tcp_nodelay(true)?;
        let socket = SharedSocket::new(socket.into());
        // Before it is connected: that, too, may have to be given up.
        if let Some(slot) = &self.slot {
            slot.hold(socket.clone())?;
        }
        SockRef::from(&socket).connect_timeout(&addr.into(), self.dial_limit)?;
        Ok(socket)
    }

    fn no_address(&self) -> CallError {
        CallError::fatal(FailureKind::Refused, format!("{} has no address", self.text))
    }

    fn not_connected(&self, addr: SocketAddr, error: io::Error) -> CallError {
        let text = match error.kind() {
            io::ErrorKind::TimedOut => format!("no answer within {:?}", self.dial_limit),
            _ => error.to_string(),
        };
        CallError {
            message: format!("cannot connect to {addr}: {text}"),
            ..CallError::from(error)
        }
    }

    /// True when one of the addresses is of this machine's loopback.
    pub(crate) fn is_loopback(&self) -> bool {
        self.addresses.iter().any(|addr| addr.ip().is_loopback())
    }
}

/// Whether a text is `HOST:PORT`; looks nothing up.
pub(crate) fn check_form(text: &str) -> Result<(), String> {
    let port = text
        .rsplit_once(':')
        .filter(|(host, _)| !host.is_empty())
        .and_then(|(_, port)| port.parse::<u16>().ok());
    match port {
        Some(port) if port > 0 => Ok(()),
        _ => Err("expected HOST:PORT, for example 127.0.0.1:8972 or [::1]:8972".to_owned()),
    }
}

pub(crate) fn resolve(text: &str) -> Result<Vec<SocketAddr>, String> {
    check_form(text)?;
    let addresses: Vec<SocketAddr> = text
        .to_socket_addrs()
        .map_err(|error| format!("the name in '{text}' does not resolve: {error}"))?
        .map(as_the_kernel_says)
        .collect();
    if addresses.is_empty() {
        return Err(format!("the name in '{text}' stands for no address"));
    }
    Ok(addresses)
}

/// The address that a connected socket reports as its peer: "any" means this machine, and a mapped IPv4 address is one of IPv4.
fn as_the_kernel_says(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip().to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

async fn dial(addr: SocketAddr) -> io::Result<TcpStream> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    socket.connect(addr).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_refused_in_one_sentence() {
        for text in [
            "",
            "localhost",
            ":80",
            "localhost:",
            "localhost:http",
            "localhost:99999",
            "localhost:0",
        ] {
            assert!(resolve(text).unwrap_err().contains("HOST:PORT"), "{text}");
        }
        assert!(resolve("no-such-host.invalid:1").unwrap_err().contains("does not resolve"));
        assert!(resolve("127.0.0.1:8972").is_ok());
        assert!(resolve("[::1]:8972").is_ok());
    }
}
