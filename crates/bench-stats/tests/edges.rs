//! Figures that break formulas: each question has a defined answer or an `Unknown`, and no result holds a NaN or an infinity.

#![allow(clippy::unwrap_used)]

use bench_stats::holm::holm;
use bench_stats::looks::{Estimate, Looks, Progress, usual_looks};
use bench_stats::outliers::outliers;
use bench_stats::power::{MOST_PAIRS, Plan, power};
use bench_stats::rank::{Better, RankRange, rank_ranges};
use bench_stats::steady::{Steadiness, Step, Trend, steadiness};
use bench_stats::{BetweenBatches, Change, Ratio, Unknown, change, paired_ratio, t_interval};
use serde::Serialize;

const GREATEST: f64 = f64::MAX;
const LEAST: f64 = 5e-324;

/// Sets of figures, of which some are long enough for every question.
fn hostile() -> Vec<Vec<f64>> {
    let mut sets = vec![vec![], vec![1.0], vec![1.0, 2.0], vec![f64::NAN], vec![1.0, f64::NAN, 2.0]];
    let kinds = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        GREATEST,
        -GREATEST,
        LEAST,
        -LEAST,
        1e-310,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
    ];
    for one in kinds {
        sets.push(vec![one; 12]);
        for other in kinds {
            // One that differs first, last, half, and by turns.
            sets.push([vec![other], vec![one; 11]].concat());
            sets.push([vec![one; 11], vec![other]].concat());
            sets.push([vec![one; 6], vec![other; 6]].concat());
            sets.push([one, other].repeat(6));
        }
    }
    sets.push((0..12).map(|power| 10_f64.powi(power * 50 - 300)).collect());
    sets.push((0..12).map(|step| 1.0 + f64::from(step) * f64::EPSILON).collect());
    // A figure that is farther from the others than a number says in units of their spread.
    sets.push([(0..11).map(|step| f64::from(step) * 1e-320).collect(), vec![1.0]].concat());
    sets
}

/// NaN and infinities become null in JSON.
fn check<Answer: Serialize>(answer: &Result<Answer, Unknown>, question: &str, about: &[f64]) {
    match answer {
        Ok(answer) => {
            let text = serde_json::to_string(answer).unwrap();
            assert!(!text.contains("null"), "{question} of {about:?}: {text}");
            assert!(about.iter().all(|figure| figure.is_finite()), "{question} of {about:?}: {text}");
        }
        Err(unknown) => assert!(!unknown.to_string().is_empty()),
    }
}

#[test]
fn no_figures_bring_a_nan_or_an_infinity_out_of_any_question() {
    let sets = hostile();
    for values in &sets {
        for confidence in [1e-300, 0.5, 0.95, 1.0 - f64::EPSILON] {
            check(&t_interval(values, confidence), "interval", values);
        }
        check(&outliers(values), "outliers", values);
        check(&steadiness(values), "steadiness", values);
        for control in &sets {
            for sd_log in [0.0, 1e-300, 0.01, GREATEST] {
                let answer = change(values, control, BetweenBatches { sd_log, freedom: 1 }, 0.95);
                check(&answer, "change", &[values.as_slice(), control].concat());
            }
            check(
                &paired_ratio(values, control, 0.95),
                "ratio",
                &[values.as_slice(), control].concat(),
            );
        }
    }
    for three in sets.windows(3) {
        check(&rank_ranges(three, Better::Lower, 0.05), "ranks", &three.concat());
    }
    for ratio in [LEAST, 1e-10, 1.0, 1.0 + f64::EPSILON, 2.0, GREATEST] {
        for sd_log in [0.0, LEAST, 1e-300, 0.01, 1e10, GREATEST] {
            for alpha in [1e-300, 0.05, 1.0 - f64::EPSILON] {
                for pairs in [6, MOST_PAIRS] {
                    check(&power(pairs, ratio, sd_log, alpha), "power", &[ratio, sd_log]);
                }
            }
            check(&Plan::default().detectable_ratio(6, sd_log), "detectable", &[sd_log]);
            Plan::default().pairs_needed(ratio, sd_log).unwrap();
        }
    }
}

#[test]
fn equal_figures_have_an_interval_without_width_and_a_p_value_that_says_whether_they_are_zero() {
    for (value, p_value) in [(0.0, 1.0), (0.1, 0.0), (-3.0, 0.0), (1e-300, 0.0)] {
        let interval = t_interval(&[value; 7], 0.95).unwrap();
        let found = (interval.estimate, interval.low, interval.high, interval.sd, interval.p_value);
        assert_eq!(found, (value, value, value, 0.0, p_value));
    }
}

#[test]
fn the_same_ratio_in_every_round_is_one_without_width() {
    let control = [1.0, 2.0, 3.0, 5.0, 7.0, 0.1];
    for (factor, p_value) in [(1.0, 1.0), (4.0, 0.0)] {
        let found = paired_ratio(&control.map(|value| value * factor), &control, 0.95).unwrap();
        assert_eq!(
            (found.low, found.high, found.sd_log, found.p_value),
            (found.ratio, found.ratio, 0.0, p_value)
        );
        assert!((found.ratio - factor).abs() < 1e-15 * factor);
        assert_eq!(found.half_width(), 0.0);
    }
}

#[test]
fn what_cannot_be_said_is_said_in_words() {
    let says = |unknown: Result<Ratio, Unknown>, text: &str| assert_eq!(unknown.unwrap_err().to_string(), text);
    says(paired_ratio(&[1.0; 3], &[1.0; 3], 0.95), "too few runs: 3, at least 6 are needed");
    says(paired_ratio(&[], &[], 0.95), "too few runs: 0, at least 6 are needed");
    says(
        paired_ratio(&[1.0; 7], &[1.0; 6], 0.95),
        "7 figures beside 6 of the same rounds: each round must have both",
    );
    let change_of = |count, sd_log, freedom| change(&[1.0; 6], &vec![1.0; count], BetweenBatches { sd_log, freedom }, 0.95);
    let says_of_a_change = |unknown: Result<Change, Unknown>, text: &str| assert_eq!(unknown.unwrap_err().to_string(), text);
    says_of_a_change(change_of(5, 0.0, 1), "too few runs: 5, at least 6 are needed");
    says_of_a_change(change_of(6, 0.0, 0), "too few runs: 1, at least 2 are needed");
    says_of_a_change(
        change_of(6, -1.0, 1),
        "a figure is zero or negative: a ratio needs figures above zero",
    );
    let zero = "a figure is zero or negative: a ratio needs figures above zero";
    says(paired_ratio(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0], &[1.0; 6], 0.95), zero);
    says(paired_ratio(&[1.0; 6], &[1.0, 1.0, -1.0, 1.0, 1.0, 1.0], 0.95), zero);
    let infinite = "a figure, or what follows from the figures, is not a finite number";
    says(paired_ratio(&[1.0; 6], &[1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0], 0.95), infinite);
    says(paired_ratio(&[GREATEST; 6], &[LEAST; 6], 0.95), infinite);
    says(
        paired_ratio(&[1.0; 6], &[1.0; 6], 1.0),
        "1 is no probability between 0 and 1 (both excluded)",
    );
    says(
        paired_ratio(&[1.0; 6], &[1.0; 6], f64::NAN),
        "NaN is no probability between 0 and 1 (both excluded)",
    );
    assert_eq!(t_interval(&[1.0], 0.95), Err(Unknown::TooFew { got: 1, needed: 2 }));
    assert_eq!(t_interval(&[GREATEST, -GREATEST], 0.95), Err(Unknown::NotFinite));
    assert_eq!(outliers(&[1.0; 5]), Err(Unknown::TooFew { got: 5, needed: 6 }));
    assert_eq!(outliers(&[1.0; 6]), Ok(vec![]));
}

#[test]
fn each_test_of_steadiness_has_half_of_the_error_rate() {
    let of = |trend, step| Steadiness {
        trend: Trend {
            tau: 0.4,
            slope: 0.1,
            p_value: trend,
        },
        step: Step {
            at: 5,
            before: 1.0,
            after: 2.0,
            p_value: step,
        },
    };
    for (p_value, flagged) in [(0.024, true), (0.026, false)] {
        assert_eq!(of(p_value, 1.0).has_trend(0.05), Ok(flagged));
        assert_eq!(of(1.0, p_value).has_step(0.05), Ok(flagged));
        assert_eq!(of(p_value, 1.0).has_step(0.05), Ok(false));
        assert_eq!(of(1.0, p_value).has_trend(0.05), Ok(false));
    }
    assert_eq!(of(0.0, 0.0).has_step(0.0), Err(Unknown::NotAProbability { got: 0.0 }));
    assert_eq!(of(0.0, 0.0).has_trend(1.0), Err(Unknown::NotAProbability { got: 1.0 }));
    assert_eq!(steadiness(&[1.0; 9]), Err(Unknown::TooFew { got: 9, needed: 10 }));
}

/// Figures around `level` that all differ.
fn around(level: f64, rounds: usize) -> Vec<f64> {
    (0..rounds)
        .map(|round| level * (1.0 + 0.001 * ((round * 7) % 5) as f64 + 0.0001 * round as f64))
        .collect()
}

#[test]
fn ranks_are_ranges_and_too_few_rounds_have_none() {
    let range = |best, worst| RankRange { best, worst };
    let ranges = |levels: &[f64], better| {
        let stacks: Vec<Vec<f64>> = levels.iter().map(|level| around(*level, 8)).collect();
        rank_ranges(&stacks, better, 0.05).unwrap().ranges
    };
    assert_eq!(ranges(&[3.0, 1.0, 2.0], Better::Higher), [range(1, 1), range(3, 3), range(2, 2)]);
    assert_eq!(ranges(&[3.0, 1.0, 2.0], Better::Lower), [range(3, 3), range(1, 1), range(2, 2)]);
    assert_eq!(ranges(&[2.0, 2.0, 2.0], Better::Higher), [range(1, 3); 3]);
    assert_eq!(ranges(&[2.0, 1.0, 2.0], Better::Higher), [range(1, 2), range(3, 3), range(1, 2)]);
    assert_eq!(ranges(&[2.0], Better::Higher), [range(1, 1)]);
    assert_eq!(ranges(&[], Better::Higher), []);
    let few = Err(Unknown::TooFew { got: 5, needed: 6 });
    assert_eq!(rank_ranges(&[around(1.0, 5)], Better::Higher, 0.05), few);
    assert_eq!(rank_ranges(&[around(1.0, 5), around(2.0, 5)], Better::Higher, 0.05), few);
    let unequal = Err(Unknown::UnequalLengths { values: 8, control: 6 });
    assert_eq!(rank_ranges(&[around(1.0, 8), around(2.0, 6)], Better::Higher, 0.05), unequal);
}

#[test]
fn a_difference_that_a_single_pair_proves_may_be_none_among_many() {
    // Two stacks apart by about three standard errors, and four more that are equal to one of them.
    let base: Vec<f64> = (0..8).map(|round| 100.0 + f64::from(round)).collect();
    let faster: Vec<f64> = base
        .iter()
        .zip([0.0, 2.0, 1.0, -0.5, 2.5, 0.5, 1.5, 1.0])
        .map(|(value, more)| value + more)
        .collect();
    let places = |stacks: &[Vec<f64>]| rank_ranges(stacks, Better::Higher, 0.05).unwrap().ranges[0];
    assert_eq!(places(&[faster.clone(), base.clone()]), RankRange { best: 1, worst: 1 });
    let many = [vec![faster], vec![base; 5]].concat();
    assert_eq!(places(&many), RankRange { best: 1, worst: 6 });
}

#[test]
fn holms_example_comes_out() {
    // Steps: 4 · 0.005, 3 · 0.01, then 2 · 0.03 twice, as 0.04 alone is less than the one before it.
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((found - expected).abs() < 1e-15, "{adjusted:?}");
    }
    assert_eq!(holm(&[0.5, 0.6]), [1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn looks_are_at_their_numbers_and_say_what_was_not_reached() {
    let plan = |target| Looks::new(&usual_looks(48), 0.95, target).unwrap();
    assert!((plan(0.02).confidence_of_each() - 0.9875).abs() < 1e-15);
    let (values, control) = (around(2.0, 50), vec![1.0; 50]);
    let judge = |target, pairs: usize| plan(target).judge(pairs, &values[..pairs], &control[..pairs]).unwrap();
    for (pairs, until) in [(0, 6), (5, 6), (7, 12), (23, 24), (25, 48)] {
        // Narrow enough, but it is no look.
        assert_eq!(judge(0.5, pairs), Progress::GoOn { until });
    }
    for (pairs, until) in [(6, 12), (12, 24), (24, 48)] {
        assert_eq!(judge(1e-6, pairs), Progress::GoOn { until });
    }
    let by_hand = |pairs: usize| paired_ratio(&values[..pairs], &control[..pairs], 0.9875).unwrap();
    let estimate = |target, pairs| Estimate {
        half_width: by_hand(pairs).half_width(),
        target,
        ratio: by_hand(pairs),
    };
    assert_eq!(judge(0.5, 6), Progress::Reached(estimate(0.5, 6)));
    assert_eq!(judge(1e-6, 48), Progress::NotReached(estimate(1e-6, 48)));
    // More than planned are judged as the last look.
    assert_eq!(judge(1e-6, 50), Progress::NotReached(estimate(1e-6, 50)));
    // The number of processes decides what is a look, not that of the figures.
    let five = |pairs: usize| plan(0.5).judge(pairs, &values[..5], &control[..5]);
    assert_eq!(five(5), Ok(Progress::GoOn { until: 6 }));
    assert_eq!(five(6), Err(Unknown::TooFew { got: 5, needed: 6 }));
    let of = |at: &[usize], confidence, target| Looks::new(at, confidence, target).unwrap_err();
    assert_eq!(of(&[], 0.95, 0.1), Unknown::TooFew { got: 0, needed: 1 });
    assert_eq!(of(&[5, 10], 0.95, 0.1), Unknown::NotRising);
    assert_eq!(of(&[6, 6], 0.95, 0.1), Unknown::NotRising);
    assert_eq!(of(&[6], 0.95, 0.0), Unknown::NotPositive);
    assert_eq!(of(&[6], 0.95, f64::INFINITY), Unknown::NotFinite);
    assert_eq!(of(&[6], 1.0, 0.1), Unknown::NotAProbability { got: 1.0 });
}

#[test]
fn the_usual_looks_double_and_end_with_the_last_process() {
    for (most, looks) in [
        (0, vec![6]),
        (6, vec![6]),
        (7, vec![6, 7]),
        (10, vec![6, 10]),
        (48, vec![6, 12, 24, 48]),
        (50, vec![6, 12, 24, 48, 50]),
        (100, vec![6, 12, 24, 48, 96, 100]),
    ] {
        assert_eq!(usual_looks(most), looks, "{most}");
    }
    assert!(Looks::new(&usual_looks(usize::MAX), 0.95, 0.01).is_ok());
}

#[test]
fn a_half_width_is_how_far_the_ends_are_relative_to_the_ratio() {
    let found = paired_ratio(&around(2.0, 8), &[1.0; 8], 0.95).unwrap();
    assert!((found.high / found.ratio - 1.0 - found.half_width()).abs() < 1e-12);
    assert!((found.ratio / found.low - 1.0 - found.half_width()).abs() < 1e-12);
}

#[test]
fn plans_at_their_limits() {
    let plan = Plan::default();
    assert_eq!(plan.detectable_ratio(6, 0.0), Ok(1.0));
    assert_eq!(plan.detectable_ratio(5, 0.1), Err(Unknown::TooFew { got: 5, needed: 6 }));
    assert_eq!(plan.detectable_ratio(6, -0.1), Err(Unknown::NotPositive));
    assert_eq!(plan.pairs_needed(1.0, 0.1), Ok(None));
    assert_eq!(plan.pairs_needed(1.0 + 1e-9, 0.1), Ok(None));
    assert_eq!(plan.pairs_needed(2.0, 0.0), Ok(Some(6)));
    assert_eq!(plan.pairs_needed(0.0, 0.1), Err(Unknown::NotPositive));
    assert_eq!(Plan::new(0.5, 0.5), Err(Unknown::NotAProbability { got: 0.5 }));
    assert_eq!(power(6, 2.0, 0.0, 0.05), Ok(1.0));
}
