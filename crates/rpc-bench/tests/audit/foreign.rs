//! Foreign tables: one test for each mistake of mission and file.

use crate::{audit, check, fixture};

const VALID: (&str, &str) = ("VALID", "");

#[test]
fn rows_that_are_possible_pass() {
    let (code, rows) = crate::rows(&fixture("possible.md"), &[]);
    assert_eq!((code, rows.len()), (0, 7));
    for row in &rows {
        assert_eq!(
            (&row["verdict"], row["reasons"].as_array().unwrap().len()),
            (&"VALID".into(), 0),
            "{row:#}"
        );
    }
    // Throughput × mean of the one row that has both is 1,965 of 2,000.
    assert_eq!(rows[0]["notes"].as_array().unwrap().len(), 0, "{:#}", rows[0]);
    check(
        &fixture("java_round2.csv"),
        &["--callers", "32"],
        0,
        &[VALID, VALID, ("VALID", "= 1.19 ms")],
    );
    check(&fixture("codec_matrix.csv"), &["--callers", "100"], 0, &[VALID; 6]);
}

#[test]
fn a_p99_that_is_another_percentile_is_caught_where_its_neighbours_stand() {
    check(
        &fixture("p99_at_other_percentiles.md"),
        &[],
        3,
        &[
            ("INVALID", "p99 41.3 ms is above p99.9 37.9 ms"),
            ("INVALID", "p90 20.1 ms is above p99 19.8 ms"),
            ("SUSPECT", "p99 and p99.9 are the same to the digit in 2 rows"),
            ("SUSPECT", "p99 and p99.9 are the same to the digit in 2 rows"),
        ],
    );
}

#[test]
fn a_throughput_that_overflowed_32_bits_is_caught() {
    check(
        &fixture("overflow.csv"),
        &[],
        3,
        &[
            ("INVALID", "calls × 1000 was kept in 32 bits"),
            (
                "SUSPECT",
                "only 14 calls in flight of 100 callers: the throughput is too low by ×7.1",
            ),
            ("INVALID", "×7.09 of the throughput"),
        ],
    );
}

#[test]
fn a_throughput_of_no_replies_is_caught() {
    check(
        &fixture("no_reply.csv"),
        &[],
        3,
        &[("INVALID", "68,000 calls/s, but no call succeeded")],
    );
}

#[test]
fn more_calls_in_flight_than_callers_are_caught() {
    check(&fixture("in_flight.md"), &[], 3, &[("INVALID", "calls in flight of 100 callers")]);
    // Within any tolerance that is one.
    check(&fixture("in_flight.md"), &["--tolerance", "1000"], 3, &[("INVALID", "in flight")]);
}

#[test]
fn whole_milliseconds_are_seen_and_allowed_for() {
    let fixture = fixture("whole_ms.csv");
    check(&fixture, &[], 0, &[("SUSPECT", "no call takes no time"), VALID]);
    let (code, text, _) = audit(&fixture, &[]);
    assert_eq!(code, 0);
    assert!(text.contains("Times may be cut off"), "{text}");
    let (_, text, _) = audit(&fixture, &["--digits", "rounded"]);
    assert!(!text.contains("Times may be cut off"), "{text}");
}

#[test]
fn a_throughput_of_requested_calls_is_caught() {
    check(
        &fixture("requested.csv"),
        &[],
        3,
        &[("INVALID", "counts the calls that were asked for; those that succeeded are 5,000/s")],
    );
}

#[test]
fn calls_shorter_than_the_delay_and_too_many_of_them_are_caught() {
    check(
        &fixture("delay.md"),
        &["--delay", "10"],
        3,
        &[
            VALID,
            ("INVALID", "min 9.20 ms is less than the delay"),
            ("INVALID", "above callers / delay = 10,000"),
        ],
    );
    // Who does not say what the delay was cannot know.
    check(&fixture("delay.md"), &[], 0, &[VALID, VALID, VALID]);
}
