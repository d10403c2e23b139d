//! What the columns of a foreign table are, by their names.

use super::printed::undecorated;
use super::quantity::{MAX, MEDIAN, MIN, Quantity, percent_millionths};
use super::unit::Unit;

/// What a column is taken for.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// A figure, in this unit if its name says one.
    Figure(Quantity, Option<Unit>),
    /// Part of the row's name.
    Label,
    /// Left out, since `--columns` says so.
    Ignored,
    /// A second column of the same figure, which is not looked at.
    Second(Quantity),
    /// Not recognised.
    Unknown,
}

/// Words that may stand beside a statistic of the times of calls.
const BESIDE_TIMES: [&str; 17] = [
    "latency",
    "latencies",
    "lat",
    "time",
    "times",
    "service",
    "response",
    "rt",
    "rtt",
    "duration",
    "call",
    "request",
    "rpc",
    "percentile",
    "pct",
    "th",
    "the",
];
/// Words that may stand beside a count.
const BESIDE_COUNTS: [&str; 18] = [
    "number",
    "num",
    "no",
    "no.",
    "of",
    "#",
    "total",
    "count",
    "client",
    "calls",
    "requests",
    "replies",
    "responses",
    "sent",
    "made",
    "concurrent",
    "level",
    "parallel",
];
/// Words that may stand beside a throughput.
const BESIDE_RATES: [&str; 10] = [
    "mean", "avg", "average", "total", "rate", "call", "calls", "request", "requests", "rps",
];
/// Columns whose text is part of a row's name.
const LABELS: [&str; 27] = [
    "framework",
    "name",
    "client",
    "server",
    "library",
    "lib",
    "package",
    "transport",
    "codec",
    "wire",
    "lane",
    "stack",
    "operation",
    "method",
    "benchmark",
    "test",
    "suite",
    "service",
    "rpc",
    "protocol",
    "serialization",
    "serializer",
    "implementation",
    "case",
    "workload",
    "language",
    "connections",
];

/// Recognises a column by its name.
pub fn recognise(header: &str) -> Role {
    let Name { words, unit } = Name::of(header);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [label] = words[..]
        && LABELS.contains(&label)
        && unit.is_none()
    {
        return Role::Label;
    }
    match quantity(&words, unit) {
        Some(quantity) if unit.is_none_or(|unit| quantity.can_be_in(unit)) => Role::Figure(quantity, unit),
        _ => Role::Unknown,
    }
}

fn quantity(words: &[&str], unit: Option<Unit>) -> Option<Quantity> {
    let only = |names: &[&str], beside: &[&str]| {
        words.iter().any(|word| names.contains(word)) && words.iter().all(|word| names.contains(word) || beside.contains(word))
    };
    let times = |names: &[&str]| only(names, &BESIDE_TIMES);
    let counts = |names: &[&str]| only(names, &BESIDE_COUNTS);

    if only(&["throughput", "tps", "qps"], &BESIDE_RATES) || (matches!(unit, Some(Unit::Rate(_))) && only(&BESIDE_RATES, &[])) {
        return Some(Quantity::Throughput);
    }
    if words.is_empty() {
        return matches!(unit, Some(Unit::Rate(_))).then_some(Quantity::Throughput);
    }
    if let Some((at, millionths)) = words.iter().enumerate().find_map(|(at, word)| Some((at, percentile(word)?)))
        && words
            .iter()
            .enumerate()
            .all(|(index, word)| index == at || BESIDE_TIMES.contains(word))
    {
        return Some(Quantity::Percentile(millionths));
    }
    let statistics: [(&[&str], Quantity); 4] = [
        (&["median", "med"], Quantity::Percentile(MEDIAN)),
        (&["mean", "avg", "average"], Quantity::Mean),
        (&["min", "minimum", "least", "fastest"], Quantity::Percentile(MIN)),
        (&["max", "maximum", "worst", "slowest"], Quantity::Percentile(MAX)),
    ];
    if let Some((_, quantity)) = statistics.into_iter().find(|(names, _)| times(names)) {
        return Some(quantity);
    }
    if only(&["delay", "sleep"], &["requested", "handler", "server", "time", "simulated"]) {
        return Some(Quantity::Delay);
    }
    if only(&["elapsed", "took", "duration"], &["total", "time", "test"]) || matches!(words, ["total" | "wall", "time"]) {
        return Some(Quantity::Elapsed);
    }
    if counts(&["ok", "success", "successes", "successful", "succeeded", "correct"]) {
        return Some(Quantity::Ok);
    }
    if counts(&["failed", "fail", "failures", "errors", "error", "err"]) {
        return Some(Quantity::Failed);
    }
    if counts(&["clients", "callers", "concurrency", "c", "threads", "goroutines", "users"]) {
        return Some(Quantity::Callers);
    }
    counts(&["n", "calls", "requests", "due"]).then_some(Quantity::Calls)
}

/// `p99`, `p99.9`, `99%`, `99th`.
fn percentile(word: &str) -> Option<u32> {
    let digits = match word.strip_prefix('p') {
        Some(digits) => digits,
        None => word.strip_suffix('%').or_else(|| word.strip_suffix("th"))?,
    };
    percent_millionths(digits.strip_suffix("th").unwrap_or(digits).trim_end_matches('%'))
}

/// A column's name in parts.
struct Name {
    words: Vec<String>,
    unit: Option<Unit>,
}

impl Name {
    fn of(header: &str) -> Self {
        let header = undecorated(header);
        if let Some(unit @ Unit::Rate(_)) = Unit::named(&header) {
            return Self {
                words: Vec::new(),
                unit: Some(unit),
            };
        }
        let (name, bracketed) = without_brackets(&header);
        let mut unit = bracketed.as_deref().and_then(Unit::named);
        let mut words: Vec<String> = Vec::new();
        // In brackets without being a unit: it changes what the name means.
        words.extend(bracketed.filter(|_| unit.is_none()).map(|text| text.to_lowercase()));
        let parts = name.to_lowercase();
        for word in parts
            .split(|c: char| c.is_whitespace() || "_-:,=".contains(c))
            .filter(|word| !word.is_empty() && *word != "in")
        {
            let fraction = word.chars().all(|c| c.is_ascii_digit());
            match words.last_mut() {
                // p99_9
                Some(last) if fraction && last.starts_with('p') && percentile(last).is_some() => *last = format!("{last}.{word}"),
                _ => match Unit::named(word).filter(|_| unit.is_none() && !["ops", "tps", "qps", "rps"].contains(&word)) {
                    Some(named) => unit = Some(named),
                    None => words.push(word.to_owned()),
                },
            }
        }
        Self { words, unit }
    }
}

/// A text without what stands in its first brackets, and that.
fn without_brackets(text: &str) -> (String, Option<String>) {
    let Some((before, rest)) = text.split_once(['(', '[']) else {
        return (text.to_owned(), None);
    };
    let (inside, after) = rest.split_once([')', ']']).unwrap_or((rest, ""));
    (format!("{before} {after}"), Some(inside.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, name: &str, unit: Option<&str>) {
        let expected = Role::Figure(Quantity::named(name).unwrap(), unit.map(|unit| Unit::named(unit).unwrap()));
        assert_eq!(recognise(header), expected, "{header}");
    }

    #[test]
    fn figures_are_recognised_as_people_name_them() {
        check("mean (ms)", "mean", Some("ms"));
        check("Mean(ms)", "mean", Some("ms"));
        check("avg latency [µs]", "mean", Some("us"));
        check("Average response time in ms", "mean", Some("ms"));
        check("median", "median", None);
        check("**P99(ms)**", "p99", Some("ms"));
        check("p99_us", "p99", Some("us"));
        check("p99_9 ms", "p99.9", Some("ms"));
        check("service_time_ns_p99", "p99", Some("ns"));
        check("p999", "p99.9", None);
        check("99.9%", "p99.9", None);
        check("99th percentile", "p99", None);
        check("max latency", "max", None);
        check("TPS", "throughput", Some("/s"));
        check("ops/ms", "throughput", Some("ops/ms"));
        check("throughput/s", "throughput", Some("/s"));
        check("Throughput (ops/ms)", "throughput", Some("ops/ms"));
        check("Throughput(TPS)", "throughput", Some("/s"));
        check("throughput", "throughput", None);
        check("requests/sec", "throughput", Some("/s"));
        check("mean throughput", "throughput", None);
        check("mean (ops/s)", "throughput", Some("/s"));
        check("qps", "throughput", Some("/s"));
        check("c", "callers", None);
        check("concurrent clients", "callers", None);
        check("client threads", "callers", None);
        check("Concurrency", "callers", None);
        check("n", "calls", None);
        check("total requests", "calls", None);
        check("ok", "ok", None);
        check("successful calls", "ok", None);
        check("errors", "failed", None);
        check("delay (ms)", "delay", Some("ms"));
        check("total time (s)", "elapsed", Some("s"));
        check("took_ms", "elapsed", Some("ms"));
    }

    #[test]
    fn what_only_looks_like_a_figure_is_not_taken_for_one() {
        for header in [
            "max RSS",
            "CPU mean",
            "latency",
            "of floor",
            "CPU µs/call (client+server)",
            "RSS client / server",
            "verdict",
            "bound by",
            "p",
            "MB/s",
            "p99 (TPS)",
            "",
            "calls per caller",
            "mean (stdev)",
            "peak memory (MiB)",
            "calls (ms)",
        ] {
            assert_eq!(recognise(header), Role::Unknown, "{header}");
        }
        for header in ["framework", "Client", "transport"] {
            assert_eq!(recognise(header), Role::Label, "{header}");
        }
    }
}
