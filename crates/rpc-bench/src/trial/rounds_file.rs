//! A file of rounds: a line on what they are of, then one JSON object a round.

use std::path::Path;

use anyhow::{Context, Result};
use bench_core::build_info::BuildInfo;
use bench_host::HostInfo;
use serde::Serialize;

use super::{Arm, Repeats};
use crate::dates::Utc;
use crate::records::Appender;

/// What the rounds are of. Figures without it are of nobody knows what.
#[derive(Debug, Serialize)]
struct Run<'a> {
    /// What is compared, in a line.
    title: &'a str,
    /// End of the first round: UTC, RFC 3339.
    first_round_at: String,
    arms: Vec<RunArm<'a>>,
    /// Calls per second of the open-loop slices.
    rate_per_s: f64,
    slices: u64,
    slice_ms: u64,
    seed: u64,
    profile: &'a str,
    /// Commit that this command was built from.
    git_commit: Option<String>,
    host: HostInfo,
}

#[derive(Debug, Serialize)]
struct RunArm<'a> {
    name: &'a str,
    library: &'a str,
    library_version: Option<&'a str>,
    callers: u64,
    connections: u64,
    delay_us: u64,
    lane: bench_core::lane::Lane,
    environment: &'a [(String, String)],
    server_flags: &'a [String],
    client_flags: &'a [String],
}

/// Where rounds are kept as they are made, if anybody asked for it.
#[derive(Debug)]
pub struct RoundsFile<'a> {
    file: Option<Appender>,
    /// What they are of, as long as that is not written.
    of: Option<RoundsOf<'a>>,
}

/// What rounds are of.
#[derive(Clone, Copy, Debug)]
pub struct RoundsOf<'a> {
    /// What is compared, in a line.
    pub title: &'a str,
    /// The arms.
    pub arms: &'a [Arm],
    /// How they are measured.
    pub repeats: &'a Repeats,
    /// Cargo profile of their binaries.
    pub profile: &'a str,
}

impl<'a> RoundsFile<'a> {
    /// Opens the file at its end: a file may hold several runs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(path: Option<&Path>, of: RoundsOf<'a>) -> Result<Self> {
        Ok(Self {
            file: path.map(Appender::open).transpose()?,
            of: Some(of),
        })
    }

    /// Adds a round; before the first one the line `{"run": …}`.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn add(&mut self, rate_per_s: f64, round: &impl Serialize) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        if let Some(of) = self.of.take() {
            let run = Run {
                title: of.title,
                first_round_at: Utc::now().rfc3339(),
                arms: of.arms.iter().map(RunArm::of).collect(),
                rate_per_s,
                slices: of.repeats.slices,
                slice_ms: of.repeats.slice_ms,
                seed: of.repeats.seed,
                profile: of.profile,
                git_commit: BuildInfo::current("").git_commit,
                host: HostInfo::read().context("cannot read what machine this is")?,
            };
            file.add(&serde_json::json!({ "run": run }))?;
        }
        file.add(round)
    }
}

impl<'a> RunArm<'a> {
    fn of(arm: &'a Arm) -> Self {
        Self {
            name: &arm.name,
            library: &arm.programs.stack.library,
            library_version: arm.programs.stack.library_version.as_deref(),
            callers: arm.cell.callers,
            connections: arm.cell.connection_count(),
            delay_us: arm.cell.delay_us,
            lane: arm.cell.lane,
            environment: &arm.environment,
            server_flags: &arm.server_flags,
            client_flags: &arm.client_flags,
        }
    }
}
