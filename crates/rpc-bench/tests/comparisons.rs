//! What `ab` finds in recorded rounds: comparisons drawn again and again from two pools that were recorded on a shared machine with two CPUs.
//!
//! `tests/data/tcp-against-itself.jsonl` is of two identical builds of raw TCP, made with
//! `rpc-bench ab tcp --rounds 48 --record tests/data/tcp-against-itself.jsonl`; `tests/data/tcp-slower.jsonl` of 24 rounds
//! `--with server:--work=460ns`, 3 % of the CPU per call of both sides in a quiet period.

#![allow(clippy::unwrap_used)]

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rpc_bench::ab::{Finding, Round, compare};

/// Comparisons that are drawn from each pool.
const COMPARISONS: usize = 40;
/// Rounds of a comparison: `ab` has as many by default, in five to six minutes.
const ROUNDS: usize = 48;
/// As `ab` makes each look's intervals (four looks at 95 %).
const CONFIDENCE: f64 = 0.9875;

fn pool(text: &str) -> Vec<Round> {
    let rounds = text.lines().filter(|line| !line.starts_with(r#"{"run":"#));
    rounds.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many of the comparisons find something, and the names of what they find.
fn found(pool: &[Round], swap_sides: bool) -> (usize, Vec<(&'static str, Finding)>) {
    let mut random = StdRng::seed_from_u64(7);
    let (mut count, mut findings) = (0, Vec::new());
    for _ in 0..COMPARISONS {
        let rounds: Vec<Round> = (0..ROUNDS)
            .map(|_| {
                let mut round = pool[random.random_range(0..pool.len())].clone();
                if swap_sides && random.random() {
                    std::mem::swap(&mut round.a, &mut round.b);
                }
                round
            })
            .collect();
        let compared = compare(&rounds, CONFIDENCE);
        let new: Vec<_> = (compared.iter().filter(|measure| measure.finding != Finding::Nothing))
            .map(|measure| (measure.measure.name, measure.finding))
            .collect();
        count += usize::from(!new.is_empty());
        findings.extend(new);
    }
    (count, findings)
}

#[test]
fn two_identical_builds_are_called_different_in_at_most_5_percent() {
    // Which of the two is A is drawn as well: a chance difference of this one pool is not to count forty times.
    let (count, findings) = found(&pool(include_str!("data/tcp-against-itself.jsonl")), true);
    assert!(count <= COMPARISONS / 20, "{count} of {COMPARISONS}: {findings:?}");
}

#[test]
fn a_slow_down_of_3_percent_is_found_in_at_least_90_percent() {
    let (count, findings) = found(&pool(include_str!("data/tcp-slower.jsonl")), false);
    assert!(count >= COMPARISONS * 9 / 10, "{count} of {COMPARISONS}: {findings:?}");
    let by_cpu = findings
        .iter()
        .filter(|(name, finding)| *name == "CPU µs/call at the rate" && *finding == Finding::Worse);
    assert!(by_cpu.count() >= COMPARISONS * 9 / 10, "{findings:?}");
    assert!(findings.iter().all(|(_, finding)| *finding == Finding::Worse), "{findings:?}");
}
