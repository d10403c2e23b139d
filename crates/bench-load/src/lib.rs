//! The client harness: everything about a client that is not its framework.
//!
//! A client crate implements [`Connect`] and a trait for each service it calls ([`EchoCalls`], [`PayloadCalls`]) and registers them;
//! flags, phases, the measured loop, statistics and the record are here, the same for every stack.
//!
//! ```text
//! control (main thread)                      client threads, one runtime each
//! ─────────────────────                      ────────────────────────────────
//! read server's stats (no call under way)
//! start threads ───────────────────────────▶ open their connections
//! everybody is connected, one reply verified
//! open the window: start and end ──────────▶ callers: make, await, check, repeat   (caller.rs: the measured loop)
//! read CPU at the window's edges
//! collect ◀──────────────────────────────── tallies of all callers, after the drain
//! read server's stats, write the record
//! ```
//!
//! A library that blocks ([`Connect::BLOCKING`]) runs the same loop on a thread per connection (blocking.rs): each client thread above
//! then only starts, watches and reports for those of its CPU.
//!
//! While calls are made, threads share the window's start and end, which they read, and a page of progress each, which only they write.

mod blocking;
mod caller;
mod connect;
mod control;
mod evenness;
mod flags;
mod hold;
mod link;
pub mod null;
mod open;
mod outcome;
mod output;
mod progress;
mod registry;
mod server_stats;
mod session;
mod signals;
mod slot;
mod target;
mod text;
mod watch;
mod window;
mod worker;
pub mod workload;

pub use bench_host::SharedSocket;
pub use connect::{CallResult, Connect, EchoCalls, PayloadCalls, Settings};
pub use registry::Registry;
pub use target::Target;
