//! The kinds of runtime that a server has.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the threads of a server share its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeKind {
    /// One single-threaded runtime per thread; connections are dealt round-robin.
    #[default]
    CurrentThread,
    /// One runtime whose threads steal work from each other.
    Multi,
}

impl fmt::Display for RuntimeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CurrentThread => "current-thread",
            Self::Multi => "multi",
        })
    }
}

impl FromStr for RuntimeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "current-thread" => Ok(Self::CurrentThread),
            "multi" => Ok(Self::Multi),
            _ => Err("a runtime is 'current-thread' or 'multi'".to_owned()),
        }
    }
}
