//! What every part of rpc-bench shares: the message, the handler with its simulated delay, codecs, histograms and the run record.
//!
//! No sockets, no flags, no framework: a server crate adapts [`handler::Handler`] to its library, a client crate hands messages of
//! its library to the measured loop in `bench-load`, and both sides describe themselves with [`server`] and [`record`].

pub mod allocator;
pub mod arrival;
pub mod build_info;
pub mod codec;
pub mod delay;
pub mod duration;
pub mod failure;
pub mod failure_log;
pub mod first_texts;
pub mod handler;
pub mod histogram;
pub mod lane;
pub mod message;
pub mod record;
pub mod runtime;
pub mod server;
pub mod talk;
pub mod units;
pub mod verdict;
pub mod wire;
