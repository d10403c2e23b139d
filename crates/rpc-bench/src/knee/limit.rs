//! What a stack does beyond its knee, in words.

use std::fmt;

use bench_core::failure::FailureKind;
use serde::Serialize;

use super::BEYOND;
use super::judge::MOST_FAILED;
use super::point::Point;

/// Share of the due calls that must be unanswered before there is a queue; in a steady state only those under way are.
const QUEUE: f64 = 0.01;
/// Share of the due calls below which a goodput is none.
const NEARLY_NONE: f64 = 0.01;
/// Share of the greatest goodput below which it has fallen.
const FALLEN: f64 = 0.9;

/// One thing that a stack does under more load than it can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// A process ended, or did not answer any more.
    Breaks,
    /// Calls are taken and hardly any is answered.
    Hangs,
    /// Calls are refused for want of room: a cap, HTTP 429, RESOURCE_EXHAUSTED.
    Refuses,
    /// Calls run into a deadline.
    TimesOut,
    /// Calls fail in other ways.
    Fails,
    /// Goodput falls below 90 % of its maximum.
    Collapses,
    /// Goodput stays, and calls wait the longer the longer the load lasts.
    Queues,
    /// All calls are answered, but too late.
    Slows,
    /// All calls are answered in time.
    KeepsUp,
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Breaks => "breaks",
            Self::Hangs => "hangs",
            Self::Refuses => "refuses",
            Self::TimesOut => "times out",
            Self::Fails => "fails",
            Self::Collapses => "collapses",
            Self::Queues => "queues",
            Self::Slows => "slows",
            Self::KeepsUp => "keeps up",
        })
    }
}

/// What the stack does at [`BEYOND`] times the knee; nothing when the curve has no such point. The worst comes first.
pub fn at_limit(curve: &[Point], slo_ns: u64) -> Vec<Behaviour> {
    let Some(top) = curve.iter().find(|point| point.share == BEYOND) else {
        return Vec::new();
    };
    let mut does = Vec::new();
    if !top.broken.is_empty() {
        does.push(Behaviour::Breaks);
    }
    if top.records_are_missing() {
        return does;
    }
    let due = top.calls.due.max(1) as f64;
    let unanswered = top.unanswered();
    if (top.calls.ok as f64) < NEARLY_NONE * due && unanswered > top.calls.failed_total() {
        does.push(Behaviour::Hangs);
        return does;
    }
    let ended = (top.calls.ok + top.calls.failed_total()).max(1) as f64;
    for behaviour in [Behaviour::Refuses, Behaviour::TimesOut, Behaviour::Fails] {
        let such = top.calls.failed.iter().filter(|(kind, _)| of_failure(**kind) == behaviour);
        if such.map(|(_, count)| *count).sum::<u64>() as f64 > MOST_FAILED * ended {
            does.push(behaviour);
        }
    }
    let most = curve.iter().filter_map(|point| point.goodput_per_s).fold(0.0, f64::max);
    if top.goodput_per_s.is_some_and(|goodput| goodput < FALLEN * most) {
        does.push(Behaviour::Collapses);
    }
    if unanswered as f64 > QUEUE * due {
        does.push(Behaviour::Queues);
    } else if top.response_p99_ns.is_none_or(|p99| p99 >= slo_ns) {
        does.push(Behaviour::Slows);
    } else if does.is_empty() {
        does.push(Behaviour::KeepsUp);
    }
    does
}

/// What a stack does whose calls fail so.
fn of_failure(kind: FailureKind) -> Behaviour {
    match kind {
        FailureKind::Limit => Behaviour::Refuses,
        FailureKind::Timeout => Behaviour::TimesOut,
        _ => Behaviour::Fails,
    }
}

/// In words: `refuses, collapses`.
pub fn in_words(does: &[Behaviour]) -> String {
    match does {
        [] => "not measured".to_owned(),
        _ => does.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

impl Point {
    fn records_are_missing(&self) -> bool {
        self.calls.due == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::record::Calls;

    const SLO_NS: u64 = 5_000_000;

    /// A point of one second; what is not answered is not made.
    fn point(share: f64, due: u64, ok: u64, failed: &[(FailureKind, u64)], p99_ms: Option<u64>) -> Point {
        let failed: std::collections::BTreeMap<_, _> = failed.iter().copied().collect();
        let unsent = due - ok - failed.values().sum::<u64>();
        Point {
            share,
            rate_per_s: due as f64,
            elapsed_s: 1.0,
            goodput_per_s: Some(ok as f64),
            response_p99_ns: p99_ms.map(|ms| ms * 1_000_000),
            calls: Calls {
                due,
                ok,
                failed,
                unsent,
                ..Calls::default()
            },
            ..Point::default()
        }
    }

    #[track_caller]
    fn check(top: Point, words: &str) {
        let curve = [point(0.5, 500, 500, &[], Some(1)), point(1.0, 1_000, 1_000, &[], Some(4)), top];
        assert_eq!(in_words(&at_limit(&curve, SLO_NS)), words);
    }

    #[test]
    fn what_a_stack_does_beyond_its_knee_is_named() {
        let queue = [(FailureKind::Limit, 0)];
        check(point(1.5, 1_500, 1_050, &[], None), "queues");
        check(point(1.5, 1_500, 1_000, &queue, None), "queues");
        check(point(1.5, 1_500, 890, &[], None), "collapses, queues");
        check(point(1.5, 1_500, 1_050, &[(FailureKind::Limit, 450)], Some(4)), "refuses");
        check(
            point(1.5, 1_500, 800, &[(FailureKind::Limit, 700)], Some(9)),
            "refuses, collapses, slows",
        );
        check(point(1.5, 1_500, 1_000, &[(FailureKind::Timeout, 300)], None), "times out, queues");
        check(point(1.5, 1_500, 1_498, &[(FailureKind::Reset, 2)], Some(2)), "fails");
        check(point(1.5, 1_500, 1_500, &[], Some(6)), "slows");
        check(point(1.5, 1_500, 1_500, &[], Some(4)), "keeps up");
        check(point(1.5, 1_500, 3, &[], None), "hangs");
        // A few failures, as in a VALID-but-for-them row, are no behaviour.
        check(point(1.5, 1_500, 1_499, &[(FailureKind::Reset, 1)], Some(4)), "keeps up");
    }

    #[test]
    fn a_process_that_ended_is_told_before_what_others_did() {
        let broken = |mut point: Point| {
            point.broken.push("the client ended".to_owned());
            point
        };
        check(broken(point(1.5, 0, 0, &[], None)), "breaks");
        check(broken(point(1.5, 1_500, 1_050, &[], None)), "breaks, queues");
    }

    #[test]
    fn a_curve_that_was_cut_short_says_nothing_of_what_is_beyond() {
        let short = [point(1.0, 1_000, 1_000, &[], Some(4)), point(1.25, 1_250, 1_000, &[], None)];
        assert_eq!(in_words(&at_limit(&short, SLO_NS)), "not measured");
        assert_eq!(at_limit(&[], SLO_NS), []);
    }
}
