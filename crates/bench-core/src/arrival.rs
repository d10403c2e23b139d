//! How the due times of an open loop are spaced.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Spacing of the due times. See METHODOLOGY.md, "The open loop".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrival {
    /// All gaps alike.
    #[default]
    Constant,
    /// Exponential gaps, as of many users who know nothing of each other.
    Poisson,
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        })
    }
}

impl FromStr for Arrival {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "constant" => Ok(Self::Constant),
            "poisson" => Ok(Self::Poisson),
            _ => Err("arrivals are 'constant' or 'poisson'".to_owned()),
        }
    }
}
