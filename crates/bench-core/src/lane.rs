//! The two ways in which every library is run.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which settings a library runs with. See METHODOLOGY.md, "Fairness".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// What the library's documentation shows, plus the normalisations that every stack gets.
    #[default]
    Default,
    /// Reviewed settings, each listed with its measured gain in the server crate's README.
    Tuned,
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Default => "default",
            Self::Tuned => "tuned",
        })
    }
}

impl FromStr for Lane {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(Self::Default),
            "tuned" => Ok(Self::Tuned),
            _ => Err("a lane is 'default' or 'tuned'".to_owned()),
        }
    }
}
