//! Two recorded sets: what changed of each row's ratio to the control, and whether that is more than the machine changes by itself.
//!
//! Figures of two sets were measured at different times, so that they share no rounds: what a slow hour did to one of them would look like a
//! change. Therefore each figure is first divided by that of the control, raw TCP, of the same round, and the interval of the change is
//! widened by what `calibrate` found two batches of the same programs to differ by.

mod facts;
mod noise;
mod pairs;
mod set;
pub mod show;

use bench_stats::holm::holm;
use bench_stats::{BetweenBatches, Change, change};

pub use facts::Difference;
pub use noise::Noise;
pub use set::Set;

use crate::report::rows::{Row, RowKey};
use crate::trial::{MEASURES, Measure};
use pairs::Ratios;

/// Chance that any of the findings of a comparison is wrong.
const ALPHA: f64 = 0.05;

/// What can be said about two sets.
#[derive(Debug)]
pub struct Comparison {
    /// What differs between them but the figures.
    pub differences: Vec<Difference>,
    /// The rows that both have, in the order of the tables.
    pub rows: Vec<Compared>,
    /// Rows of the old set alone.
    pub only_old: Vec<RowKey>,
    /// Rows of the new set alone.
    pub only_new: Vec<RowKey>,
}

/// One row of both sets.
#[derive(Debug)]
pub struct Compared {
    /// Which row.
    pub key: RowKey,
    /// The figures; or why the row cannot be compared.
    pub outcome: Result<Figures, String>,
}

/// What became of the figures of a row.
#[derive(Debug)]
pub enum Figures {
    /// The row is the control itself: its figures as they are, whose changes are the machine's as much as its own.
    Control(Vec<MeasureChange>),
    /// The row's ratios to the control.
    Ratios(Vec<MeasureChange>),
}

/// One measure of a row.
#[derive(Debug)]
pub struct MeasureChange {
    /// Which.
    pub measure: Measure,
    /// Geometric mean in the old set: of the ratios to the control, or of the control's own figures; `None` where one is missing or not above
    /// 0.
    pub old: Option<f64>,
    /// The same in the new set.
    pub new: Option<f64>,
    /// New / old with its interval; or why there is none.
    pub change: Result<Change, String>,
    /// What is proved, all rows and measures together taken into account.
    pub finding: Finding,
}

pub use crate::ab::Finding;

/// Compares two sets; `noise` is what the machine's batches differ by, or why that is not known.
pub fn compare(old: &Set, new: &Set, noise: &Result<Noise, String>, confidence: f64) -> Comparison {
    let in_old = |row: &&Row| old.row(&row.key).is_some();
    let (both, only_new): (Vec<&Row>, Vec<&Row>) = new.measured().partition(in_old);
    let pairs: Vec<(&Row, &Row)> = both.iter().filter_map(|&row| Some((old.row(&row.key)?, row))).collect();
    let judge = Judge {
        old,
        new,
        noise,
        confidence,
    };
    let mut rows: Vec<Compared> = pairs
        .iter()
        .map(|(before, after)| Compared {
            key: after.key.clone(),
            outcome: judge.row(before, after),
        })
        .collect();
    find(&mut rows);
    Comparison {
        differences: facts::differences(&pairs),
        rows,
        only_old: old
            .measured()
            .filter(|row| new.row(&row.key).is_none())
            .map(|row| row.key.clone())
            .collect(),
        only_new: only_new.into_iter().map(|row| row.key.clone()).collect(),
    }
}

struct Judge<'a> {
    old: &'a Set,
    new: &'a Set,
    noise: &'a Result<Noise, String>,
    confidence: f64,
}

impl<'a> Judge<'a> {
    fn row(&self, old: &Row, new: &Row) -> Result<Figures, String> {
        facts::same_ground(old, new)?;
        let control = self.control(new);
        // Other rows of that wire, over shared connections for instance, are compared with it as any row is.
        if control.as_ref().is_ok_and(|(_, control)| std::ptr::eq(*control, new)) {
            let (old, new) = (pairs::own(old), pairs::own(new));
            return Ok(Figures::Control(self.measures(&old, &new, |_| {
                Err("figures of different times: the machine may have changed".to_owned())
            })));
        }
        let (old_control, new_control) = control?;
        let ratios =
            |row, control, set: &str| pairs::to_control(row, control).ok_or_else(|| format!("{set} has no round with it and the control"));
        let (old, new) = (ratios(old, old_control, "the old set")?, ratios(new, new_control, "the new set")?);
        let between = |measure: Measure| self.noise.as_ref().map_err(Clone::clone)?.between(measure.name);
        Ok(Figures::Ratios(self.measures(&old, &new, between)))
    }

    /// The same row of both sets.
    fn control(&self, of: &Row) -> Result<(&'a Row, &'a Row), String> {
        let in_both = |new: &'a Row| Some((self.old.row(&new.key)?, new));
        let (old, new) = (self.new.controls(&of.key).into_iter())
            .find_map(in_both)
            .ok_or_else(|| format!("no row of the control ({}) beside it in both sets", set::CONTROL.join(" ")))?;
        facts::same_ground(old, new).map_err(|reason| format!("the control: {reason}"))?;
        Ok((old, new))
    }

    fn measures(&self, old: &Ratios, new: &Ratios, between: impl Fn(Measure) -> Result<BetweenBatches, String>) -> Vec<MeasureChange> {
        MEASURES
            .into_iter()
            .filter_map(|measure| {
                let (before, after) = (old.of(measure), new.of(measure));
                if before.is_empty() && after.is_empty() {
                    return None;
                }
                let interval = || {
                    // What a longer set would mend comes before what a calibration would.
                    let enough = change(&before, &after, NO_NOISE, self.confidence).map_err(|unknown| unknown.to_string());
                    let between = enough.and(between(measure))?;
                    change(&before, &after, between, self.confidence).map_err(|unknown| unknown.to_string())
                };
                Some(MeasureChange {
                    measure,
                    old: geometric_mean(&before),
                    new: geometric_mean(&after),
                    change: interval(),
                    finding: Finding::Nothing,
                })
            })
            .collect()
    }
}

const NO_NOISE: BetweenBatches = BetweenBatches { sd_log: 0.0, freedom: 1 };

fn geometric_mean(figures: &[f64]) -> Option<f64> {
    let all_positive = !figures.is_empty() && figures.iter().all(|figure| figure.is_finite() && *figure > 0.0);
    all_positive.then(|| (figures.iter().map(|figure| figure.ln()).sum::<f64>() / figures.len() as f64).exp())
}

/// Many rows and measures find something by chance as many times as often: Holm's correction over all of them.
fn find(rows: &mut [Compared]) {
    let mut known: Vec<(f64, &mut MeasureChange)> = rows
        .iter_mut()
        .filter_map(|row| row.outcome.as_mut().ok())
        .flat_map(|figures| match figures {
            Figures::Control(measures) | Figures::Ratios(measures) => measures,
        })
        .filter_map(|measure| Some((measure.change.as_ref().ok()?.p_value, measure)))
        .collect();
    let p_values: Vec<f64> = known.iter().map(|(p_value, _)| *p_value).collect();
    for ((_, measure), adjusted) in known.iter_mut().zip(holm(&p_values)) {
        if adjusted <= ALPHA {
            let better = (measure.new > measure.old) == measure.measure.more_is_better;
            measure.finding = if better { Finding::Better } else { Finding::Worse };
        }
    }
}

#[cfg(test)]
mod tests;
