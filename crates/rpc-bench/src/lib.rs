//! The suite's command: lists the stacks, sweeps a matrix over them, and makes tables from the records.
//!
//! It links no framework: it finds the stacks through `cargo metadata` ([`discovery`]), builds each package by itself
//! ([`build`](mod@build)) and drives the binaries as processes ([`child`]), by the process contract in ARCHITECTURE.md.

pub mod ab;
pub mod audit;
pub mod build;
pub mod calibrate;
pub mod check;
pub mod child;
pub mod command;
pub mod compare;
pub mod dates;
pub mod discovery;
pub mod floor;
pub mod interrupt;
pub mod knee;
pub mod ladder;
pub mod offer;
pub mod programs;
pub mod rank;
pub mod records;
pub mod report;
pub mod sweep;
pub mod trial;
pub mod usage;

pub use build::build;
