//! What the statistics promise, held by simulation: coverage, false alarms, power. Seeded, so that each run is the same.
//!
//! A rate over n simulated experiments may be off its expectation by `4 · √(p · (1 − p) / n)`; the figures in METHODOLOGY.md ("Repeats and
//! comparisons") are those printed here (`cargo test -p bench-stats --test simulation -- --nocapture`).

#![allow(clippy::unwrap_used)]

mod support;

use bench_stats::looks::{Looks, Progress, usual_looks};
use bench_stats::power::{Plan, power};
use bench_stats::rank::{Better, rank_ranges};
use bench_stats::steady::steadiness;
use bench_stats::{BetweenBatches, LEAST_PROCESSES, change, outliers::outliers, paired_ratio, t_interval};
use support::Random;

const TRIALS: usize = 10_000;

/// Share of the trials in which it is true, printed.
fn rate(name: &str, trials: usize, mut is_true: impl FnMut() -> bool) -> f64 {
    let found = (0..trials).filter(|_| is_true()).count() as f64 / trials as f64;
    println!("{name}: {:.1} %", 100.0 * found);
    found
}

/// Four standard errors of a simulated rate.
fn bound(expected: f64, trials: usize) -> f64 {
    4.0 * (expected * (1.0 - expected) / trials as f64).sqrt()
}

fn assert_near(found: f64, expected: f64, trials: usize) {
    let bound = bound(expected, trials);
    assert!((found - expected).abs() <= bound, "{found} for {expected} ± {bound}");
}

#[test]
fn t_intervals_cover_at_their_confidence() {
    let mut random = Random::seeded(1);
    for (count, confidence) in [(2, 0.95), (6, 0.95), (6, 0.8), (24, 0.95)] {
        let name = format!("interval of {count} normal figures at {confidence}");
        let covered = rate(&name, TRIALS, || {
            let interval = t_interval(&random.normals(count, 40.0, 3.0), confidence).unwrap();
            interval.low <= 40.0 && 40.0 <= interval.high
        });
        assert_near(covered, confidence, TRIALS);
    }
}

/// Both stacks of a round share what the machine does in it, which moves far more than they differ.
fn rounds(random: &mut Random, count: usize, ratio: f64, sd_log: f64) -> (Vec<f64>, Vec<f64>) {
    let control = random.log_normals(count, 24_000.0, 0.3);
    let factors = random.log_normals(count, ratio, sd_log);
    let values = control.iter().zip(factors).map(|(control, factor)| control * factor).collect();
    (values, control)
}

/// Each set was measured in another hour, which moved it by itself.
#[test]
fn changes_between_sets_cover_at_their_confidence_if_the_noise_between_batches_is_known() {
    let mut random = Random::seeded(11);
    for (counts, sd_logs, between) in [
        ([6, 6], [0.02, 0.02], 0.0),
        ([6, 24], [0.1, 0.01], 0.0),
        ([12, 12], [0.02, 0.05], 0.03),
    ] {
        // Known as well as from eleven batches.
        let freedom = 10;
        let name = format!("change of sets of {counts:?} with sd {sd_logs:?}, {between} between them");
        let covered = rate(&name, TRIALS, || {
            let mut set = |which: usize| {
                let hour = (between * random.normal()).exp();
                random.log_normals(counts[which], hour, sd_logs[which])
            };
            let (old, new) = (set(0), set(1));
            let estimate = (random.normals(freedom + 1, 0.0, between), freedom as f64);
            let mean = estimate.0.iter().sum::<f64>() / (freedom + 1) as f64;
            let sd_log = (estimate.0.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / estimate.1).sqrt();
            let found = change(&old, &new, BetweenBatches { sd_log, freedom }, 0.95).unwrap();
            found.low <= 1.0 && 1.0 <= found.high
        });
        // Welch's approximation errs by a percent or so where few figures have unequal spreads.
        assert!((covered - 0.95).abs() <= 0.01 + bound(0.95, TRIALS), "{covered}");
    }
}

/// What `calibrate` knows: means of a few batches of six rounds, which differ by the noise inside them as well.
#[test]
fn changes_cover_when_the_noise_between_batches_is_that_of_their_means() {
    let mut random = Random::seeded(12);
    for (between, batches) in [(0.006, 4), (0.006, 8), (0.01, 4), (0.01, 8), (0.0, 8)] {
        let inside = 0.02;
        let name = format!("change of sets of 12, sd {inside}, {between} between {batches} batches of 6");
        let covered = rate(&name, TRIALS, || {
            let mut batch = |rounds: usize| {
                let hour = (between * random.normal()).exp();
                random.log_normals(rounds, hour, inside)
            };
            let means: Vec<f64> = (0..batches)
                .map(|_| batch(6).iter().map(|figure| figure.ln()).sum::<f64>() / 6.0)
                .collect();
            let (old, new) = (batch(12), batch(12));
            let known = BetweenBatches {
                sd_log: t_interval(&means, 0.5).unwrap().sd,
                freedom: batches - 1,
            };
            let found = change(&old, &new, known, 0.95).unwrap();
            found.low <= 1.0 && 1.0 <= found.high
        });
        assert!(covered >= 0.95 - bound(0.95, TRIALS), "{covered}");
    }
}

#[test]
fn paired_ratios_cover_at_their_confidence_whatever_the_rounds_share() {
    let mut random = Random::seeded(2);
    for pairs in [LEAST_PROCESSES, 24] {
        let covered = rate(&format!("ratio of {pairs} pairs at 0.95"), TRIALS, || {
            let (values, control) = rounds(&mut random, pairs, 0.85, 0.05);
            let ratio = paired_ratio(&values, &control, 0.95).unwrap();
            ratio.low <= 0.85 && 0.85 <= ratio.high
        });
        assert_near(covered, 0.95, TRIALS);
    }
}

/// Not a promise but what is to be expected where the assumption of normal figures does not hold.
#[test]
fn ratios_cover_nearly_as_often_when_one_process_in_ten_is_slow() {
    let mut random = Random::seeded(3);
    for (pairs, least) in [(LEAST_PROCESSES, 0.92), (24, 0.93)] {
        let slow = |random: &mut Random| if random.uniform(0.0, 1.0) < 0.1 { -0.2 } else { 0.0 };
        let covered = rate(&format!("ratio of {pairs} pairs, one in ten slower by 20 %"), TRIALS, || {
            let (mut values, control) = rounds(&mut random, pairs, 1.0, 0.05);
            values.iter_mut().for_each(|value| *value *= f64::exp(slow(&mut random)));
            let ratio = paired_ratio(&values, &control, 0.95).unwrap();
            let truth = f64::exp(-0.02);
            ratio.low <= truth && truth <= ratio.high
        });
        assert!(covered > least && covered < 0.98, "{covered}");
    }
}

/// Coverage of what is reported when it is looked at the usual numbers of at most `most` processes; `each` is the confidence of an interval
/// if not the plan's.
fn coverage_with_looks(name: &str, random: &mut Random, most: usize, target: f64, each: Option<f64>) -> f64 {
    const LOOKED: usize = 4_000;
    const TRUTH: f64 = 1.1;
    let plan = Looks::new(&usual_looks(most), 0.95, target).unwrap();
    let mut used = 0;
    let covered = rate(&format!("{name}, at most {most}, target {target}"), LOOKED, || {
        let (values, control) = rounds(random, most, TRUTH, 0.05);
        let mut pairs = LEAST_PROCESSES;
        let ratio = loop {
            let (values, control) = (&values[..pairs], &control[..pairs]);
            match each {
                None => match plan.judge(pairs, values, control).unwrap() {
                    Progress::GoOn { until } => pairs = until,
                    Progress::Reached(estimate) | Progress::NotReached(estimate) => break estimate.ratio,
                },
                Some(confidence) => {
                    let ratio = paired_ratio(values, control, confidence).unwrap();
                    if ratio.half_width() <= target || pairs == most {
                        break ratio;
                    }
                    pairs = most.min(2 * pairs);
                }
            }
        };
        used += pairs;
        ratio.low <= TRUTH && TRUTH <= ratio.high
    });
    println!("  {:.1} pairs on average", used as f64 / LOOKED as f64);
    covered
}

#[test]
fn stopping_at_looks_keeps_the_coverage_and_without_their_share_would_not() {
    let mut random = Random::seeded(4);
    for most in [10, 48] {
        for target in [0.01, 0.02, 0.03, 0.04, 0.06, 0.1] {
            let covered = coverage_with_looks("stopped at looks", &mut random, most, target, None);
            assert!(covered >= 0.95, "{covered} with at most {most} and the target {target}");
        }
    }
    for target in [0.02, 0.03] {
        let covered = coverage_with_looks("stopped at intervals of 0.95", &mut random, 48, target, Some(0.95));
        assert!(
            covered < 0.945,
            "{covered} with the target {target}: the shares would not be needed"
        );
    }
}

#[test]
fn equal_stacks_are_ranked_apart_at_most_as_often_as_said() {
    const RANKED: usize = 3_000;
    let mut random = Random::seeded(5);
    for stacks in [2, 3, 6] {
        let claimed = rate(&format!("a rank among {stacks} equal stacks at 0.05"), RANKED, || {
            let machine = random.log_normals(8, 24_000.0, 0.3);
            let figures: Vec<Vec<f64>> = (0..stacks)
                .map(|_| machine.iter().map(|machine| machine * (0.05 * random.normal()).exp()).collect())
                .collect();
            let ranking = rank_ranges(&figures, Better::Higher, 0.05).unwrap();
            ranking.ranges.iter().any(|range| range.best > 1 || range.worst < stacks)
        });
        assert!(claimed <= 0.05 + bound(0.05, RANKED), "{claimed}");
        if stacks == 2 {
            assert_near(claimed, 0.05, RANKED);
        }
    }
}

#[test]
fn rank_ranges_hold_the_true_ranks() {
    const RANKED: usize = 2_000;
    // The first two are equal, so that both have rank 1 and 2.
    const LEVELS: [f64; 4] = [1.0, 1.0, 0.95, 0.8];
    let mut random = Random::seeded(6);
    let (mut proved, mut right) = (0, 0);
    for _ in 0..RANKED {
        let figures = LEVELS.map(|level| random.log_normals(12, level, 0.02));
        let ranges = rank_ranges(&figures, Better::Higher, 0.05).unwrap().ranges;
        let holds = |stack: usize, ranks: [usize; 2]| ranges[stack].best <= ranks[0] && ranges[stack].worst >= ranks[1];
        right += usize::from(holds(0, [1, 2]) && holds(1, [1, 2]) && holds(2, [3, 3]) && holds(3, [4, 4]));
        proved += usize::from(ranges[3].best == 4 && ranges[3].worst == 4);
    }
    let (right, proved) = (right as f64 / RANKED as f64, proved as f64 / RANKED as f64);
    println!(
        "true ranks inside all ranges: {:.1} %; the last place proved: {:.1} %",
        100.0 * right,
        100.0 * proved
    );
    assert!(right >= 0.95 - bound(0.95, RANKED), "{right}");
    assert!(proved > 0.99, "{proved}");
}

#[test]
fn what_a_plan_says_is_found_as_often_as_it_says() {
    let mut random = Random::seeded(7);
    let plan = Plan::default();
    for pairs in [LEAST_PROCESSES, 12, 24] {
        let smallest = plan.detectable_ratio(pairs, 0.04).unwrap();
        for (name, ratio, expected) in [
            ("the smallest", smallest, 0.9),
            ("one over it", 1.0 / smallest, 0.9),
            ("half of it", smallest.sqrt(), power(pairs, smallest.sqrt(), 0.04, 0.05).unwrap()),
        ] {
            let found = rate(&format!("{pairs} pairs find {name}, {ratio:.3}"), TRIALS, || {
                let (values, control) = rounds(&mut random, pairs, ratio, 0.04);
                paired_ratio(&values, &control, 0.95).unwrap().p_value <= 0.05
            });
            assert_near(found, expected, TRIALS);
        }
    }
}

#[test]
fn a_steady_process_is_flagged_as_rarely_as_said_and_an_unsteady_one_is_found() {
    let mut random = Random::seeded(8);
    let flagged = |slices: &[f64]| {
        let found = steadiness(slices).unwrap();
        found.has_trend(0.05).unwrap() || found.has_step(0.05).unwrap()
    };
    for count in [10, 20, 50] {
        let steady = rate(&format!("{count} steady slices flagged at 0.05"), TRIALS, || {
            flagged(&random.normals(count, 100.0, 2.0))
        });
        assert!(steady <= 0.05 + bound(0.05, TRIALS), "{steady}");
    }
    let drift = |(index, value): (usize, f64)| value + 0.4 * index as f64;
    let step = |(index, value): (usize, f64)| value + if index >= 14 { 6.0 } else { 0.0 };
    let trend = rate("20 slices that rise by 4 sd flagged", 1_000, || {
        flagged(
            &random
                .normals(20, 100.0, 2.0)
                .into_iter()
                .enumerate()
                .map(drift)
                .collect::<Vec<_>>(),
        )
    });
    let jump = rate("20 slices with a step of 3 sd flagged", 1_000, || {
        flagged(&random.normals(20, 100.0, 2.0).into_iter().enumerate().map(step).collect::<Vec<_>>())
    });
    assert!(trend > 0.9 && jump > 0.9, "{trend} {jump}");
}

/// How often a figure is flagged that belongs to the others: stated, since flags are taken for what they are not.
#[test]
fn small_sets_have_flags_without_a_reason_and_wild_figures_are_found() {
    let mut random = Random::seeded(9);
    let mut stray = [6, 12, 24, 48].map(|count| {
        rate(&format!("{count} normal figures of which one or more are flagged"), TRIALS, || {
            !outliers(&random.normals(count, 100.0, 2.0)).unwrap().is_empty()
        })
    });
    stray.reverse();
    assert!(stray.is_sorted() && stray[3] < 0.2 && stray[0] < 0.1, "{stray:?}");
    let found = rate("one of 12 figures 10 sd out is flagged", 1_000, || {
        let mut values = random.normals(12, 100.0, 2.0);
        values[4] += 20.0;
        outliers(&values).unwrap().iter().any(|outlier| outlier.index == 4)
    });
    assert!(found > 0.99, "{found}");
}
