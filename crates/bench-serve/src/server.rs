//! What a framework implements.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bench_core::handler::Handler;
use bench_core::lane::Lane;
use bench_core::wire::Wire;
use futures_core::Stream;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// Effective settings by name, for the record.
pub type Settings = BTreeMap<String, serde_json::Value>;

/// A framework's server.
pub trait Server: 'static {
    /// The wires it answers, all at once.
    const WIRES: &'static [Wire];
    /// True when every connection has a thread of its own ([`crate::blocking`]): they all may run on all of the server's CPUs.
    const BLOCKING: bool = false;

    /// Serves the connections it is handed until `serve.shutdown_requested()` resolves. Called once per runtime: tasks go to
    /// `tokio::spawn`, and everything is `Send` because `--runtime multi` moves tasks between threads.
    ///
    /// # Errors
    /// When the server as a whole cannot go on. What happens to one connection goes to [`Handler::connection_failed`].
    fn serve(incoming: Incoming, serve: Serve) -> impl Future<Output = Result<(), ServeError>> + Send;

    /// Settings of the library as they are in effect in this lane.
    fn settings(lane: Lane) -> Settings;
}

/// What a server gets besides its connections.
#[derive(Clone)]
pub struct Serve {
    /// The service: every server calls the same one.
    pub handler: Handler,
    /// Which settings to run the library with.
    pub lane: Lane,
    pub(crate) shutdown: watch::Receiver<bool>,
    /// [`Server::BLOCKING`].
    pub(crate) blocking: bool,
}

impl Serve {
    /// Resolves when the server is to stop.
    pub async fn shutdown_requested(mut self) {
        // An error means that the harness is gone: time to stop, too.
        let _ = self.shutdown.wait_for(|stop| *stop).await;
    }

    /// True once the server is to stop: for a thread between two calls.
    pub fn is_stopping(&self) -> bool {
        // One load. An error means that the harness is gone.
        self.shutdown.has_changed().unwrap_or(true)
    }

    /// For a connection that waits for its calls itself, and may be told to stop between two of them only.
    pub fn between_calls(&self) -> BetweenCalls {
        BetweenCalls {
            shutdown: self.shutdown.clone(),
            notice: Box::pin(self.clone().shutdown_requested()),
            registered: false,
        }
    }
}

/// The times of one connection in which no call is under way: where it may be told to stop.
pub struct BetweenCalls {
    shutdown: watch::Receiver<bool>,
    /// Wakes the connection's task at the shutdown.
    notice: Pin<Box<dyn Future<Output = ()> + Send>>,
    registered: bool,
}

impl BetweenCalls {
    /// Awaits the next call; `None` when the server is to stop first. A call that is there already comes first.
    ///
    /// Always to be awaited in the same task: that one is registered with the shutdown the first time, so that each further call costs
    /// one load.
    pub async fn wait_for<T>(&mut self, next: impl Future<Output = T>) -> Option<T> {
        let mut next = pin!(next);
        poll_fn(|context| match next.as_mut().poll(context) {
            Poll::Ready(next) => Poll::Ready(Some(next)),
            Poll::Pending if self.is_stopping(context) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    /// Whether the server is to stop; wakes the task when it is.
    pub fn is_stopping(&mut self, context: &mut Context<'_>) -> bool {
        if !self.registered {
            self.registered = true;
            return self.notice.as_mut().poll(context).is_ready();
        }
        // An error means that the harness is gone.
        self.shutdown.has_changed().unwrap_or(true)
    }
}

/// Accepted connections, dealt round-robin to the runtimes. The sockets have their options set.
///
/// A stream, for libraries that take one. An item is an error where the socket could not be watched (out of file descriptors).
pub struct Incoming {
    pub(crate) sockets: mpsc::UnboundedReceiver<std::net::TcpStream>,
}

impl Stream for Incoming {
    type Item = io::Result<TcpStream>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.sockets.poll_recv(context).map(|socket| socket.map(TcpStream::from_std))
    }
}

impl Incoming {
    /// The next connection; `None` when no more will come.
    pub async fn next(&mut self) -> Option<io::Result<TcpStream>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

/// Why a server as a whole stopped.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the server stopped: {0}")]
pub struct ServeError(Arc<str>);

impl ServeError {
    /// From the library's own error.
    pub fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string().into())
    }
}
