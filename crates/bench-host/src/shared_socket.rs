//! A TCP connection with several owners.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A connection that blocks, for libraries that read one half and write the other, and for whoever must be able to end what a thread waits
/// for in it. Clones are of one file descriptor: a duplicate (`try_clone`) for each would be 15,000 for five thousand connections.
#[derive(Clone, Debug)]
pub struct SharedSocket(Arc<TcpStream>);

impl SharedSocket {
    /// Takes a socket as it is.
    pub fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    /// The socket itself.
    pub fn stream(&self) -> &TcpStream {
        &self.0
    }

    /// Ends one half or both for all owners, and whatever a thread waits for there. A connection that is gone already is none to end.
    pub fn shut_down(&self, half: Shutdown) {
        // ENOTCONN: the peer was faster.
        let _ = self.0.shutdown(half);
    }

    /// The peer's address, for a sentence.
    pub fn peer(&self) -> String {
        self.0.peer_addr().map_or("a peer".to_owned(), |peer| peer.to_string())
    }
}

impl Read for SharedSocket {
    /// Never interrupted: a library that has put half a message together may lose it at that error.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&*self.0).read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl Write for SharedSocket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        loop {
            match (&*self.0).write(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for SharedSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn one_owner_ends_what_another_waits_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = SharedSocket::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let (mut peer, _) = listener.accept().unwrap();
        let mut reader = socket.clone();
        let waiting = std::thread::spawn(move || reader.read(&mut [0]).unwrap());
        socket.shut_down(Shutdown::Read);
        assert_eq!(waiting.join().unwrap(), 0);
        // The other half still works.
        (&mut socket.clone()).write_all(b"y").unwrap();
        let mut byte = [0];
        peer.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"y");
    }
}
