//! How a call can fail. A failure in a run is data: counted by kind, never part of a latency or a throughput.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error with its causes: a library often says "connection error", and what happened stands further down. A cause whose text is part of
/// what was said already is not said again.
pub fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(error.source(), |cause| cause.source()).fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// The kinds that a record counts failed calls by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No connection could be made: nobody listens there, or the connection was refused.
    Refused,
    /// The peer closed or reset the connection under the call.
    Reset,
    /// No reply within `--timeout`.
    Timeout,
    /// A reply came, but not the right one.
    WrongReply,
    /// The server answered with an error of its own.
    ServerError,
    /// The server refused for want of room: a cap, a queue, HTTP 429, RESOURCE_EXHAUSTED.
    Limit,
    /// What came back does not follow the protocol.
    Protocol,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// Every kind, in the order in which they are printed.
    pub const ALL: [Self; 8] = [
        Self::Refused,
        Self::Reset,
        Self::Timeout,
        Self::WrongReply,
        Self::ServerError,
        Self::Limit,
        Self::Protocol,
        Self::Other,
    ];

    /// The name that the record uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::WrongReply => "wrong_reply",
            Self::ServerError => "server_error",
            Self::Limit => "limit",
            Self::Protocol => "protocol",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why one call, or one attempt to connect, failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What it is counted as.
    pub kind: FailureKind,
    /// False when the connection must not be used again; the driver then reconnects with back-off.
    pub connection_usable: bool,
    /// One sentence for a person.
    pub message: String,
}

impl CallError {
    /// A failure after which the connection is lost.
    pub fn fatal(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            connection_usable: false,
            message: message.into(),
        }
    }

    /// A failure of this call alone: the connection serves the next one.
    pub fn of_call(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            connection_usable: true,
            message: message.into(),
        }
    }
}

impl From<std::io::Error> for CallError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable => {
                FailureKind::Refused
            }
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof => FailureKind::Reset,
            ErrorKind::TimedOut => FailureKind::Timeout,
            ErrorKind::InvalidData => FailureKind::Protocol,
            _ => FailureKind::Other,
        };
        Self::fatal(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_record() {
        for kind in FailureKind::ALL {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
        }
    }
}
