//! What `calibrate` found two batches of the same programs to differ by.

use std::path::Path;

use anyhow::{Context, Result, bail};
use bench_host::HostInfo;
use bench_stats::BetweenBatches;
use serde::Deserialize;

use super::Set;
use crate::calibrate::against_itself::BATCH;

/// The part of a calibration that is asked for here.
#[derive(Debug, Deserialize)]
pub struct Noise {
    host: HostInfo,
    against_itself: Option<AgainstItself>,
}

#[derive(Debug, Deserialize)]
struct AgainstItself {
    noise: Vec<OfMeasure>,
}

#[derive(Debug, Deserialize)]
struct OfMeasure {
    measure: String,
    #[serde(default)]
    batches: usize,
    sd_of_batch_means: Option<f64>,
}

/// What makes a calibration.
pub const HOW: &str = "`rpc-bench calibrate --output json > calibration.json`, then --calibration calibration.json";

impl Noise {
    /// Reads what `calibrate --output json` printed.
    ///
    /// # Errors
    /// When it cannot be read or is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("'{}' cannot be read", path.display()))?;
        let noise: Self =
            serde_json::from_str(&text).with_context(|| format!("'{}' is no calibration: make one by {HOW}", path.display()))?;
        let mut measures = noise.against_itself.iter().flat_map(|all| &all.noise);
        if let Some(bad) = measures.find(|noise| noise.sd_of_batch_means.is_some_and(|sd| !sd.is_finite() || sd < 0.0)) {
            bail!("'{}' is damaged: its noise of {} is no spread", path.display(), bad.measure);
        }
        Ok(noise)
    }

    /// Refuses the calibration of another kind of machine than the sets are of.
    ///
    /// # Errors
    /// Naming both.
    pub fn of_the_machine_of(self, set: &Set) -> Result<Self, String> {
        let kind = |info: &HostInfo| format!("{}, {} CPUs", info.cpu_model, info.cpus);
        let there = set
            .records()
            .map(|record| kind(&record.host.info))
            .find(|there| *there != kind(&self.host));
        match there {
            Some(there) => Err(format!(
                "the calibration is of another machine ({}; the set's is {there})",
                kind(&self.host)
            )),
            None => Ok(self),
        }
    }

    /// Of one measure: how far whole batches come out apart, the noise inside them included. That part alone which is between them, an
    /// estimate that is often cut off at 0, would make intervals that cover too little.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn between(&self, measure: &str) -> Result<BetweenBatches, String> {
        let mut all = self.against_itself.iter().flat_map(|all| &all.noise);
        let noise = all.find(|noise| noise.measure == measure && noise.batches >= 2);
        noise
            .and_then(|noise| {
                Some(BetweenBatches {
                    sd_log: noise.sd_of_batch_means?,
                    freedom: noise.batches - 1,
                })
            })
            .ok_or_else(|| {
                format!(
                    "the calibration does not say how far batches differ: it needs two batches of {BATCH} rounds (`--rounds`), better four"
                )
            })
    }
}
