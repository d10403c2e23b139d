//! The exit codes of the suite's command, and the error that means "asked for in a way that cannot be".

use std::fmt;

/// All good.
pub const GOOD: u8 = 0;
/// Could not run.
pub const COULD_NOT_RUN: u8 = 1;
/// Wrong usage: a flag, or a name that does not exist.
pub const USAGE: u8 = 2;
/// It ran, but a cell failed, calls failed, or a row is INVALID.
pub const ROWS_FAILED: u8 = 3;
/// `ab` found a regression beyond its threshold.
pub const REGRESSION: u8 = 4;
/// Stopped by SIGINT or SIGTERM; what was complete is kept.
pub const INTERRUPTED: u8 = 130;

/// A request that names something that does not exist or cannot be; ends with exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// An [`anyhow::Error`] that ends the command with exit code 2.
pub fn usage_error(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError(text.into()))
}

/// The exit code that an error ends the command with.
pub fn exit_code_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<UsageError>() {
        Some(_) => USAGE,
        None => COULD_NOT_RUN,
    }
}
