//! Whether a row can be believed, and what bound it. An INVALID row has no throughput and is not ranked.
//!
//! METHODOLOGY.md, "Verdict" and "What bound it".

mod bound;
#[cfg(test)]
mod example;
mod impossible;
mod in_flight;
mod suspect;
mod times;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::Record;

/// Share of failed calls, 0 to 1, above which a row is invalid rather than suspect.
pub const FAILED_SHARE_INVALID: f64 = 0.001;
/// How far a row can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Nothing speaks against it.
    Valid,
    /// Something disturbed it: run it again before relying on it.
    Suspect,
    /// It is wrong, or measured something else.
    Invalid,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Valid => "VALID",
            Self::Suspect => "SUSPECT",
            Self::Invalid => "INVALID",
        })
    }
}

impl Record {
    /// Audits the record: sets verdict and reasons, takes the throughput away from an invalid row, and says what bound it.
    pub fn audit(&mut self) {
        let mut reasons = self.invalid_reasons();
        self.verdict = Verdict::Invalid;
        if reasons.is_empty() {
            reasons = self.suspect_reasons();
            self.verdict = if reasons.is_empty() { Verdict::Valid } else { Verdict::Suspect };
        }
        self.verdict_reasons = reasons;
        if self.verdict == Verdict::Invalid {
            self.throughput_per_s = None;
            self.theoretical_share = None;
        }
        self.bound_by = self.judge_bound();
    }

    /// Adds a reason for doubt that the record itself does not show.
    pub fn doubt(&mut self, reason: String) {
        self.verdict = self.verdict.max(Verdict::Suspect);
        self.verdict_reasons.push(reason);
    }
}
