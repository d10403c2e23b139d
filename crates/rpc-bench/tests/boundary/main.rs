//! The two binaries of a stack, started as a user starts them, and what comes out.

#![allow(clippy::unwrap_used)]

mod common;

mod ab;
mod bad_peers;
mod faults;
mod flags;
mod open_loop;
mod output;
mod published_schema;
mod signals;
mod stats;
mod two_processes;
mod unreachable;
