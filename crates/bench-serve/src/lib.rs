//! The server harness: everything about a server that is not its framework.
//!
//! A server crate implements [`Server`] and hands it to a [`Registry`]; flags, listener, socket options, runtime threads, ready line,
//! stats endpoint and shutdown are set once, here, the same for every stack.
//!
//! ```text
//! accept (main thread) ── deals sockets round-robin ──▶ runtime threads, each: Server::serve(incoming, handler, …)
//!                                              (a library that blocks: a thread per connection, see [`blocking`])
//! stats thread ── GET /stats ──▶ counters of all handlers
//! ```

pub mod blocking;
mod connections;
mod flags;
mod listen;
mod registry;
mod run;
mod runtimes;
mod server;
mod stats;
mod text;

pub use connections::serve_each;
pub use registry::Registry;
pub use server::{BetweenCalls, Incoming, Serve, ServeError, Server, Settings};
