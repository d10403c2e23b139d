//! A sweep: a matrix of cells, each with fresh processes, in rounds, into a folder of results.

pub mod axes;
pub mod cell;
pub mod connections;
pub mod driver;
pub mod expand;
#[cfg(test)]
mod expand_tests;
pub mod failed;
pub mod file;
pub mod floor_cell;
pub mod folder;
pub mod host_file;
pub mod only;
pub mod pace;
pub mod plan;
pub mod progress;
pub mod readme;
pub mod run_cell;
