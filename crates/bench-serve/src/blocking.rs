//! For libraries that block: a thread per connection, started, counted and ended here.

use std::collections::HashMap;
use std::io::Read as _;
use std::net::{Shutdown, TcpStream};
use std::pin::pin;
use std::time::{Duration, Instant};

use bench_core::handler::Handler;
use bench_host::start_connection_thread;
use tokio::sync::mpsc::{self, UnboundedSender};

use crate::server::{Incoming, Serve, ServeError};

pub use bench_host::SharedSocket as Socket;

/// After a connection failed, what its peer still sends is read and thrown away for so long and so far: closing with unread bytes would
/// reset the connection, and the peer might never see what the library told it.
const GOODBYE: Duration = Duration::from_secs(1);
const DISCARDED_BYTES: usize = 1024 * 1024;

/// Serves every connection with `serve_one` on a thread of its own, until the server is to stop. The threads inherit the CPUs of the
/// runtime's thread, which are all of the server's. For servers with [`Server::BLOCKING`](crate::Server::BLOCKING).
///
/// `serve_one` returns when the peer has closed the connection, or why it ended before that. Between two calls it looks at
/// [`Serve::is_stopping`].
///
/// At the stop, the reading half of every connection is shut down: a thread that waits for a call sees the end of the stream, one inside
/// a call can still answer. It returns when all of them have ended; how long that may take is the harness's affair.
///
/// # Errors
/// Of a server that does not say [`Server::BLOCKING`](crate::Server::BLOCKING). A connection that finds no thread is refused by itself.
pub async fn serve_on_threads(
    mut incoming: Incoming,
    serve: Serve,
    serve_one: fn(Socket, &Serve) -> Result<(), String>,
) -> Result<(), ServeError> {
    if !serve.blocking {
        return Err(ServeError::new(
            "serve_on_threads is for servers with `const BLOCKING: bool = true`",
        ));
    }
    let (tell, mut ended) = mpsc::unbounded_channel();
    let mut open = HashMap::new();
    let mut stopping = pin!(serve.clone().shutdown_requested());
    let mut accepted = 0;
    loop {
        tokio::select! {
            socket = incoming.sockets.recv() => match socket {
                Some(socket) => {
                    accepted += 1;
                    match start(accepted, socket, &serve, &tell, serve_one) {
                        Ok(socket) => drop(open.insert(accepted, socket)),
                        Err(text) => serve.handler.connection_failed(&text),
                    }
                }
                None => break,
            },
            Some(number) = ended.recv() => drop(open.remove(&number)),
            () = &mut stopping => break,
        }
    }
    for socket in open.values() {
        socket.shut_down(Shutdown::Read);
    }
    while !open.is_empty() {
        // A sender is kept above, so that the channel stays open.
        if let Some(number) = ended.recv().await {
            open.remove(&number);
        }
    }
    Ok(())
}

fn start(
    number: u64,
    stream: TcpStream,
    serve: &Serve,
    tell: &UnboundedSender<u64>,
    serve_one: fn(Socket, &Serve) -> Result<(), String>,
) -> Result<Socket, String> {
    let socket = Socket::new(stream);
    let peer = socket.peer();
    // The harness accepts with a poller.
    socket
        .stream()
        .set_nonblocking(false)
        .map_err(|error| format!("lost {peer} at once: {error}"))?;
    let (its, serve) = (socket.clone(), serve.clone());
    let ended = Ended {
        number,
        tell: tell.clone(),
        handler: serve.handler.clone(),
    };
    start_connection_thread(format!("conn-{number}"), move || {
        // Told even when the library panics.
        let _ended = ended;
        let result = serve_one(its.clone(), &serve);
        // Counted before the peer sees the end.
        if let Err(reason) = &result {
            serve.handler.connection_failed(&format!("lost {peer}: {reason}"));
        }
        // The registry still holds the socket: dropping it here would not close it.
        its.shut_down(Shutdown::Write);
        if result.is_err() {
            discard(its);
        }
    })
    .map_err(|error| format!("refused {}: {error}", socket.peer()))?;
    Ok(socket)
}

/// Reads what still comes, within bounds.
fn discard(mut socket: Socket) {
    let began = Instant::now();
    let (mut left, mut part) = (DISCARDED_BYTES, [0; 4096]);
    while left > 0
        && let Some(time) = GOODBYE.checked_sub(began.elapsed()).filter(|time| !time.is_zero())
        && socket.stream().set_read_timeout(Some(time)).is_ok()
        && let Ok(received @ 1..) = socket.read(&mut part)
    {
        left = left.saturating_sub(received);
    }
}

/// Says that a connection's thread has ended.
struct Ended {
    number: u64,
    tell: UnboundedSender<u64>,
    handler: Handler,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.handler
                .connection_failed("a connection was given up: its thread panicked (its message is above)");
        }
        // Nobody listens any more when the process ends.
        let _ = self.tell.send(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::failure_log::FailureLog;
    use bench_core::handler::HandlerSettings;
    use bench_core::lane::Lane;
    use std::io::Write as _;
    use std::net::TcpListener;
    use tokio::sync::watch;

    /// A byte there, the same byte back; `!` is not liked.
    fn serve_bytes(mut socket: Socket, serve: &Serve) -> Result<(), String> {
        let mut byte = [0];
        while !serve.is_stopping() {
            match socket.read(&mut byte) {
                Ok(0) => break,
                Ok(_) if byte == *b"!" => return Err("no shouting".to_owned()),
                Ok(_) => socket
                    .write_all(&serve.handler.payload_blocking(byte))
                    .map_err(|error| error.to_string())?,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// A server with so many connections, and what there is to look at.
    struct Fixture {
        peers: Vec<TcpStream>,
        stop: watch::Sender<bool>,
        handler: Handler,
        failures: FailureLog,
        serving: tokio::task::JoinHandle<Result<(), ServeError>>,
        _sockets: UnboundedSender<TcpStream>,
    }

    async fn serve(connections: usize, delay_ms: u64) -> Fixture {
        let (sockets, incoming) = mpsc::unbounded_channel();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peers = Vec::new();
        for _ in 0..connections {
            peers.push(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            let (socket, _) = listener.accept().unwrap();
            socket.set_nonblocking(true).unwrap();
            sockets.send(socket).unwrap();
        }
        let (stop, shutdown) = watch::channel(false);
        let failures = FailureLog::default();
        let settings = HandlerSettings {
            delay: Duration::from_millis(delay_ms),
            ..HandlerSettings::default()
        };
        let handler = Handler::new(settings, failures.clone()).unwrap();
        let incoming = Incoming { sockets: incoming };
        let serve = Serve {
            handler: handler.clone(),
            lane: Lane::Default,
            shutdown,
            blocking: true,
        };
        Fixture {
            peers,
            stop,
            handler,
            failures,
            serving: tokio::spawn(serve_on_threads(incoming, serve, serve_bytes)),
            _sockets: sockets,
        }
    }

    /// Off the runtime's thread, which must go on.
    async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.unwrap()
    }

    fn call(mut peer: &TcpStream, byte: u8) -> std::io::Result<u8> {
        peer.write_all(&[byte])?;
        let mut reply = [0];
        peer.read_exact(&mut reply)?;
        Ok(reply[0])
    }

    #[tokio::test]
    async fn connections_are_served_at_the_same_time_and_a_stop_ends_those_that_wait() {
        let fixture = serve(50, 0).await;
        let peers = blocking(move || {
            // Back to front: nobody waits for the one before.
            fixture
                .peers
                .iter()
                .rev()
                .for_each(|peer| assert_eq!(call(peer, b'a').unwrap(), b'a'));
            fixture.peers
        })
        .await;
        assert_eq!(fixture.handler.calls(), 50);
        fixture.stop.send(true).unwrap();
        fixture.serving.await.unwrap().unwrap();
        assert_eq!(fixture.failures.read().0, 0);
        blocking(move || assert!(call(&peers[0], b'b').is_err())).await;
    }

    #[tokio::test]
    async fn a_call_under_way_at_the_stop_is_still_answered() {
        let fixture = serve(2, 200).await;
        let mut peers = fixture.peers.into_iter();
        let peer = peers.next().unwrap();
        let calling = tokio::task::spawn_blocking(move || call(&peer, b'a').unwrap());
        // The call has been read once it is in its delay; the stop comes well inside that.
        tokio::time::sleep(Duration::from_millis(50)).await;
        fixture.stop.send(true).unwrap();
        fixture.serving.await.unwrap().unwrap();
        assert_eq!(calling.await.unwrap(), b'a');
        assert_eq!(fixture.handler.calls(), 1);
    }

    #[tokio::test]
    async fn a_connection_that_fails_is_told_of_and_ends_alone() {
        let fixture = serve(2, 0).await;
        let peers = blocking(move || {
            let mut bad = &fixture.peers[0];
            bad.write_all(b"!and more that nobody reads").unwrap();
            assert_eq!(bad.read(&mut [0]).unwrap(), 0, "an end, not a reset");
            assert_eq!(call(&fixture.peers[1], b'a').unwrap(), b'a');
            fixture.peers
        })
        .await;
        let (count, texts) = fixture.failures.read();
        assert_eq!(count, 1);
        assert!(
            texts[0].starts_with("lost 127.0.0.1:") && texts[0].ends_with("no shouting"),
            "{texts:?}"
        );
        drop(peers);
        fixture.stop.send(true).unwrap();
        fixture.serving.await.unwrap().unwrap();
    }
}
