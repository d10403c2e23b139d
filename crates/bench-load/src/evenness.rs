//! Whether a run kept its pace: the rate of replies over the window, and a note where it moved.

use std::time::Duration;

use bench_core::units::{grouped, percent};
use bench_host::{now_ns, process_cpu_ns};
use bench_stats::steady::{Steadiness, steadiness};

/// Parts of the window that are kept at most; twice as many are merged in pairs.
const MOST_PARTS: usize = 20;
/// A shorter remainder at the window's end is left out: a few replies more or less, or counted a little later, would be a rate of its own.
const LEAST_PART_NS: u64 = 40_000_000;
/// Chance that a run with a steady rate is noted.
const ALPHA: f64 = 0.01;
/// A rate that moved less is not noted, however sure that is: runs differ by more.
const LEAST_MOVE: f64 = 0.1;

/// When somebody looked, and the CPU time of the process until then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    instant_ns: u64,
    cpu_ns: u64,
}

impl Reading {
    pub fn now() -> Self {
        Self {
            instant_ns: now_ns(),
            cpu_ns: process_cpu_ns(),
        }
    }

    /// Time since an earlier reading in which nobody in the process can have run. A thread that looks late among thousands of busy ones
    /// has waited for them, and they ran.
    fn standstill_since(self, earlier: Self) -> u64 {
        let passed = self.instant_ns.saturating_sub(earlier.instant_ns);
        passed.saturating_sub(self.cpu_ns.saturating_sub(earlier.cpu_ns))
    }
}

/// Correct replies so far, as the control thread sees them every now and then. Memory does not grow with the run.
#[derive(Debug)]
pub(crate) struct Evenness {
    /// Instant and replies at the ends of the parts, the first being the start.
    ends: Vec<(u64, u64)>,
    /// Looks that make a part, and those since the last.
    looks_per_part: usize,
    looks: usize,
    last_look: Reading,
    longest_standstill_ns: u64,
}

impl Evenness {
    /// From the start of the window.
    pub fn since(now: Reading, replies: u64) -> Self {
        Self {
            ends: vec![(now.instant_ns, replies)],
            looks_per_part: 1,
            looks: 0,
            last_look: now,
            longest_standstill_ns: 0,
        }
    }

    /// A look, at any time.
    pub fn look(&mut self, now: Reading, replies: u64) {
        self.longest_standstill_ns = self.longest_standstill_ns.max(now.standstill_since(self.last_look));
        self.last_look = now;
        if self.ends.last().is_some_and(|(end, _)| now.instant_ns < end + LEAST_PART_NS) {
            return;
        }
        self.looks += 1;
        if self.looks < self.looks_per_part {
            return;
        }
        self.looks = 0;
        self.ends.push((now.instant_ns, replies));
        if self.ends.len() > 2 * MOST_PARTS {
            let mut place = 0;
            self.ends.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.looks_per_part *= 2;
        }
    }

    /// Longest time between two looks in which the process used no CPU.
    pub fn longest_standstill(&self) -> Duration {
        Duration::from_nanos(self.longest_standstill_ns)
    }

    /// Replies per second of each part, in the order of time.
    pub fn rates_per_s(&self) -> Vec<f64> {
        let rate = |pair: &[(u64, u64)]| match pair {
            &[(begin, before), (end, after)] if end > begin => Some((after - before) as f64 * 1e9 / (end - begin) as f64),
            _ => None,
        };
        self.ends.windows(2).filter_map(rate).collect()
    }
}

/// What to note of the rates of a run; `None` for a steady one, or one too short to say.
pub(crate) fn note(rates_per_s: &[f64]) -> Option<String> {
    let found = steadiness(rates_per_s).ok()?;
    let count = rates_per_s.len();
    let mean = rates_per_s.iter().sum::<f64>() / count as f64;
    let Steadiness { trend, step } = &found;
    let far = |change: f64| change.abs() >= LEAST_MOVE * mean;
    // A step is a trend too; the other way round a trend has its clearest step in the middle.
    if found.has_step(ALPHA).ok()? && far(step.after - step.before) {
        return Some(format!(
            "not steady: from {} to {} replies/s after {} of the window",
            grouped(step.before),
            grouped(step.after),
            percent(step.at as f64 / count as f64)
        ));
    }
    let change = trend.slope * (count - 1) as f64;
    (found.has_trend(ALPHA).ok()? && far(change))
        .then(|| format!("not steady: {} {} over the window", direction(change), percent(change.abs() / mean)))
}

fn direction(change: f64) -> &'static str {
    if change > 0.0 {
        "the rate of replies rose by"
    } else {
        "the rate of replies fell by"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_rate_of_their_own_time_and_are_never_too_many() {
        let at = |instant_ns| Reading { instant_ns, cpu_ns: 0 };
        let mut evenness = Evenness::since(at(1000), 500);
        // Looks at unequal times: a tenth of a second, then two.
        evenness.look(at(100_001_000), 600);
        evenness.look(at(300_001_000), 1000);
        assert_eq!(evenness.rates_per_s(), [1000.0, 2000.0]);
        for look in 1..10_000_u64 {
            evenness.look(at(300_001_000 + look * 50_000_000), 1000 + look * 7);
        }
        let rates = evenness.rates_per_s();
        assert!((MOST_PARTS..=2 * MOST_PARTS).contains(&rates.len()), "{}", rates.len());
        assert!(rates[1..].iter().all(|rate| (rate - 140.0).abs() < 1e-6), "{rates:?}");
        evenness.look(at(evenness.ends.last().unwrap().0 + 1_000_000), 1_000_000);
        assert_eq!(evenness.rates_per_s(), rates);
        assert_eq!(Evenness::since(at(7), 0).rates_per_s(), [0.0; 0]);
    }

    #[test]
    fn a_pause_is_time_without_a_look_and_without_cpu() {
        let at = |instant_ms: u64, cpu_ms: u64| Reading {
            instant_ns: instant_ms * 1_000_000,
            cpu_ns: cpu_ms * 1_000_000,
        };
        let mut evenness = Evenness::since(at(0, 0), 0);
        evenness.look(at(50, 1), 0);
        assert_eq!(evenness.longest_standstill(), Duration::from_millis(49));
        // Two CPUs were busy all the time: only the look was late.
        evenness.look(at(1050, 2001), 0);
        assert_eq!(evenness.longest_standstill(), Duration::from_millis(49));
        evenness.look(at(1750, 2011), 0);
        evenness.look(at(1800, 2012), 0);
        assert_eq!(evenness.longest_standstill(), Duration::from_millis(690));
    }

    #[test]
    fn a_rate_that_moved_is_noted_and_a_steady_or_short_one_is_not() {
        let wobble = |index: usize| 10.0 * ((index * 7) % 5) as f64;
        let steady: Vec<f64> = (0..30).map(|index| 1000.0 + wobble(index)).collect();
        assert_eq!(note(&steady), None);
        let rising: Vec<f64> = (0..30).map(|index| 1000.0 + 20.0 * index as f64 + wobble(index)).collect();
        assert!(
            note(&rising).is_some_and(|note| note.starts_with("not steady: ")),
            "{:?}",
            note(&rising)
        );
        let stepped: Vec<f64> = (0..30)
            .map(|index| wobble(index) + if index < 18 { 1000.0 } else { 800.0 })
            .collect();
        let text = note(&stepped).unwrap();
        assert!(text.contains("after 60.0 % of the window"), "{text}");
        // Sure, and too little to matter.
        let slow: Vec<f64> = (0..30).map(|index| 1000.0 + index as f64).collect();
        assert_eq!(note(&slow), None);
        assert_eq!(note(&rising[..9]), None);
    }
}
