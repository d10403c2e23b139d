//! The curve of one arm as a table.

use bench_core::record::BoundBy;
use bench_core::units::{NOTHING, grouped, three_digits, time};

use super::point::Point;
use crate::report::table::{Align, Table};

/// One line for each rate, the lowest first.
pub(super) fn table(points: &[Point]) -> Table {
    let mut table = Table::new([
        ("share", Align::Right),
        ("due/s", Align::Right),
        ("goodput/s", Align::Right),
        ("sent/due", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("oldest unanswered", Align::Right),
        ("CPU µs/call", Align::Right),
        ("failed", Align::Left),
        ("bound by", Align::Left),
    ]);
    for point in points {
        table.row([
            format!("{:.2}", point.share),
            grouped(point.rate_per_s),
            point.goodput_per_s.map_or(NOTHING.to_owned(), grouped),
            point.sent_share.map_or(NOTHING.to_owned(), |share| format!("{share:.3}")),
            percentile(point, point.response_p50_ns),
            percentile(point, point.response_p99_ns),
            (point.oldest_unanswered_ms).map_or(String::new(), |ms| time(ms * 1e6)),
            point.cpu_us_per_call.map_or(NOTHING.to_owned(), three_digits),
            failed(point),
            bound_by(&point.bound_by),
        ]);
    }
    table
}

/// `> 310 ms` where the percentile is none of a reply's: then it is above the slowest of them.
pub(super) fn percentile(point: &Point, ns: Option<u64>) -> String {
    match (ns, point.response_max_ns) {
        (Some(ns), _) => time(ns as f64),
        (None, Some(max)) => format!("> {}", time(max as f64)),
        (None, None) => NOTHING.to_owned(),
    }
}

fn failed(point: &Point) -> String {
    let kinds = point
        .calls
        .failed
        .iter()
        .map(|(kind, count)| format!("{} {kind}", grouped(*count as f64)));
    kinds.collect::<Vec<_>>().join(", ")
}

/// Each answer once, in words.
pub(super) fn bound_by(bounds: &[BoundBy]) -> String {
    match bounds {
        [] => NOTHING.to_owned(),
        _ => bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}
