//! What the operating system says about a run.
//!
//! | module | question it answers |
//! |---|---|
//! | [`clock`] | what time is it? (the one clock of the suite) |
//! | [`process`] | what has this process used: CPU, memory, context switches, threads? |
//! | [`machine`] | what did everybody else on the machine use meanwhile? |
//! | [`sockets`] | what went over this process's TCP connections? |
//! | [`info`] | what machine is this? (never its name) |
//! | [`cpus`] | which CPUs may a thread run on, and how is it put there? |
//! | [`topology`] | how are the physical cores shared out between server and client? |
//! | [`limits`] | how many files and sockets may be open? |
//! | [`threads`] | may one more thread be started? |
//! | [`shared_socket`] | how do two owners share a connection without a second descriptor? |
//! | [`timer_slack`] | how much later than asked may the kernel wake a thread? |
//!
//! Nothing here prints, parses flags or knows a framework. Every figure is read from the kernel at
//! the moment of the call; nothing is cached, and no thread is started unasked.

#![deny(clippy::undocumented_unsafe_blocks)]

#[cfg(not(target_os = "linux"))]
compile_error!("bench-host reads /proc, /sys and TCP_INFO: it builds for Linux only");

mod billed;
pub mod clock;
pub mod cpus;
mod error;
pub mod info;
pub mod limits;
pub mod machine;
pub mod process;
pub mod shared_socket;
pub mod sockets;
mod tcp_info;
pub mod threads;
pub mod timer_slack;
pub mod topology;

pub use clock::{now_ns, process_cpu_ns};
pub use cpus::CpuSet;
pub use error::HostError;
pub use info::HostInfo;
pub use limits::raise_open_files;
pub use machine::{CpuShares, MachineCpu};
pub use process::ProcessUsage;
pub use shared_socket::SharedSocket;
pub use sockets::{TcpSnapshot, TcpTotals};
pub use threads::start_connection_thread;
pub use timer_slack::set_timer_slack_1ns;
pub use topology::{Side, cpus_of, halves};
