//! The search for the highest rate that passes: a state machine that knows nothing of sockets and clocks.
//!
//! It gallops from a first guess until one rate has passed and a higher one has failed, then halves the bracket in log space. One slice
//! may be disturbed by anything, so a rate passes or fails by two votes; an answer that no disturbance explains has both of them. What has
//! been decided stays so: where the answers contradict each other, the result is one of the borders between passing and failing.

use serde::Serialize;

/// Votes that decide: the best of three slices.
const VOTES: u32 = 2;
/// First step up from a rate that passed; squared with each further one.
const STEP_UP: f64 = 1.25;
/// First step down from a rate that failed; squared with each further one.
const STEP_DOWN: f64 = 2.0;

/// Where to search, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// First guess, in calls per second, above 0.
    pub start: f64,
    /// No lower rate is tried.
    pub least: f64,
    /// No higher rate is tried; not below `least`.
    pub most: f64,
    /// The bracket is narrow enough when its upper end is above its lower one by no more than this share.
    pub precision: f64,
    /// The search ends after so many slices, at least 1.
    pub most_probes: u32,
}

/// What one slice at a rate said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The rate can be kept.
    pub passed: bool,
    /// No disturbance of the machine explains it: it need not be repeated.
    pub clear: bool,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A rate passed, and one within the precision above it failed.
    Found,
    /// The highest rate that may be tried passed.
    RateLimit,
    /// The lowest rate that may be tried failed.
    NonePassed,
    /// After the greatest number of slices the bracket was still wider than the precision.
    ProbesUsed,
}

/// What a search came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The highest rate that passed, in calls per second; null when none did.
    pub passed_per_s: Option<f64>,
    /// The lowest rate that failed; null when none did.
    pub failed_per_s: Option<f64>,
    /// Why it ended.
    pub end: End,
}

/// Searches by asking `probe` about one rate after the other; `None` when it says so (somebody asked to stop).
pub fn search(limits: &Limits, mut probe: impl FnMut(f64) -> Option<Answer>) -> Option<Found> {
    let mut bracket = Bracket {
        passed: None,
        failed: None,
        up: STEP_UP,
        down: STEP_DOWN,
    };
    let mut rate = limits.start.max(limits.least).min(limits.most);
    let mut votes = (0, 0);
    for _ in 0..limits.most_probes {
        let answer = probe(rate)?;
        let weight = if answer.clear { VOTES } else { 1 };
        match answer.passed {
            true => votes.0 += weight,
            false => votes.1 += weight,
        }
        if votes.0 >= VOTES {
            bracket.passed = Some(rate);
        } else if votes.1 >= VOTES {
            bracket.failed = Some(rate);
        } else {
            continue;
        }
        votes = (0, 0);
        match bracket.next(limits) {
            Ok(next) => rate = next,
            Err(end) => return Some(bracket.found(end)),
        }
    }
    Some(bracket.found(End::ProbesUsed))
}

struct Bracket {
    passed: Option<f64>,
    failed: Option<f64>,
    /// The next steps of the gallop.
    up: f64,
    down: f64,
}

impl Bracket {
    /// The next rate to ask about, or why there is none.
    fn next(&mut self, limits: &Limits) -> Result<f64, End> {
        match (self.passed, self.failed) {
            (Some(low), Some(high)) if high <= low * (1.0 + limits.precision) => Err(End::Found),
            (Some(low), Some(high)) => Ok((low * high).sqrt()),
            (Some(low), None) if low >= limits.most => Err(End::RateLimit),
            (Some(low), None) => {
                let step = self.up;
                self.up *= step;
                Ok((low * step).min(limits.most))
            }
            (None, Some(high)) if high <= limits.least => Err(End::NonePassed),
            (None, Some(high)) => {
                let step = self.down;
                self.down *= step;
                Ok((high / step).max(limits.least))
            }
            (None, None) => Ok(limits.start),
        }
    }

    fn found(&self, end: End) -> Found {
        Found {
            passed_per_s: self.passed,
            failed_per_s: self.failed,
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        start: 8_000.0,
        least: 100.0,
        most: 1_000_000.0,
        precision: 0.03,
        most_probes: 20,
    };

    const fn close(passed: bool) -> Answer {
        Answer { passed, clear: false }
    }

    const fn clear(passed: bool) -> Answer {
        Answer { passed, clear: true }
    }

    /// Searches a fake server and says what came out and which rates were asked about.
    fn searched(limits: Limits, mut server: impl FnMut(f64) -> Answer) -> (Found, Vec<f64>) {
        let mut asked = Vec::new();
        let found = search(&limits, |rate| {
            asked.push(rate);
            Some(server(rate))
        });
        (found.unwrap(), asked)
    }

    /// A server with a sharp knee: far from it slices are clear, near it they are close.
    fn step(knee: f64) -> impl Fn(f64) -> Answer {
        move |rate| match (rate <= knee, (knee / 1.2..knee * 1.2).contains(&rate)) {
            (passed, true) => close(passed),
            (passed, false) => clear(passed),
        }
    }

    #[test]
    fn a_sharp_knee_is_found_within_the_precision_wherever_it_is() {
        for knee in [120.0, 1_000.0, 6_500.0, 7_999.0, 8_000.0, 9_100.0, 11_000.0, 300_000.0] {
            let (found, asked) = searched(LIMITS, step(knee));
            let (passed, failed) = (found.passed_per_s.unwrap(), found.failed_per_s.unwrap());
            assert_eq!(found.end, End::Found, "{knee}: {found:?}");
            assert!(passed <= knee && knee < failed, "{knee}: {found:?}");
            assert!(failed <= passed * 1.03, "{knee}: {found:?}");
            assert!(asked.len() <= 20, "{knee}: {asked:?}");
        }
    }

    #[test]
    fn a_knee_near_the_guess_takes_a_dozen_slices() {
        for knee in [5_000.0, 6_500.0, 8_200.0, 9_500.0] {
            let (_, asked) = searched(LIMITS, step(knee));
            assert!(asked.len() <= 13, "{knee}: {} slices, {asked:?}", asked.len());
        }
    }

    #[test]
    fn one_disturbed_slice_decides_nothing() {
        // Each rate fails the first time it is asked about, as if the machine had been busy.
        let mut seen: Vec<f64> = Vec::new();
        let (found, _) = searched(Limits { most_probes: 60, ..LIMITS }, |rate| {
            let disturbed = !seen.contains(&rate);
            seen.push(rate);
            close(rate <= 9_000.0 && !disturbed)
        });
        assert_eq!(found.end, End::Found);
        let passed = found.passed_per_s.unwrap();
        assert!((9_000.0 / 1.03..=9_000.0).contains(&passed), "{found:?}");
    }

    #[test]
    fn a_clear_answer_counts_as_two() {
        let mut answers = [close(false), clear(true)].into_iter();
        let (found, asked) = searched(Limits { most: 8_000.0, ..LIMITS }, |_| answers.next().unwrap());
        assert_eq!((found.end, asked.len()), (End::RateLimit, 2));
    }

    #[test]
    fn a_server_that_never_passes_is_asked_down_to_the_least_rate() {
        let (found, asked) = searched(LIMITS, |_| clear(false));
        assert_eq!((found.end, found.passed_per_s), (End::NonePassed, None));
        assert_eq!((found.failed_per_s, asked.last()), (Some(100.0), Some(&100.0)));
        assert!(asked.len() < 8, "{asked:?}");
    }

    #[test]
    fn a_server_that_always_passes_is_asked_up_to_the_greatest_rate() {
        let (found, asked) = searched(LIMITS, |_| clear(true));
        assert_eq!((found.end, found.passed_per_s), (End::RateLimit, Some(1_000_000.0)));
        assert!(asked.iter().all(|rate| *rate <= 1_000_000.0) && asked.len() < 10, "{asked:?}");
    }

    #[test]
    fn where_lower_rates_fail_and_higher_ones_pass_the_result_is_a_border_between_the_two() {
        // Fails from 6,000 to 9,000 and again above 12,000.
        let island = |rate: f64| close(rate < 6_000.0 || (9_000.0..=12_000.0).contains(&rate));
        let limits = Limits { most_probes: 60, ..LIMITS };
        let (found, _) = searched(limits, island);
        let (passed, failed) = (found.passed_per_s.unwrap(), found.failed_per_s.unwrap());
        assert!(island(passed).passed && !island(failed).passed && passed < failed, "{found:?}");
        assert!(failed <= passed * 1.03, "{found:?}");
    }

    #[test]
    fn a_server_that_answers_by_chance_ends_the_search_too() {
        let mut state = 1u32;
        for _ in 0..200 {
            let (found, asked) = searched(LIMITS, |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                close(state >> 31 == 0)
            });
            assert!(asked.len() <= 20 && asked.iter().all(|rate| (100.0..=1e6).contains(rate)));
            assert!(
                found.passed_per_s.zip(found.failed_per_s).is_none_or(|(low, high)| low < high),
                "{found:?}"
            );
        }
    }

    #[test]
    fn slices_that_run_out_leave_the_bracket_as_it_is() {
        let (found, asked) = searched(Limits { most_probes: 3, ..LIMITS }, |rate| clear(rate < 5_000.0));
        assert_eq!(found.end, End::ProbesUsed);
        assert_eq!((found.passed_per_s, found.failed_per_s), (Some(4_000.0), Some(asked[2])));
    }

    #[test]
    fn asking_to_stop_ends_it_without_a_result() {
        assert_eq!(search(&LIMITS, |_| None), None);
    }
}
