//! Units of foreign tables: of times and of rates.

/// What a number is a number of, and its size in nanoseconds or calls per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// A time of so many nanoseconds.
    Time(f64),
    /// So many calls per second.
    Rate(f64),
}

/// Words that stand for what is counted, before the `/` of a rate.
const COUNTED: [&str; 22] = [
    "",
    "op",
    "ops",
    "operation",
    "operations",
    "call",
    "calls",
    "req",
    "reqs",
    "request",
    "requests",
    "rpc",
    "rpcs",
    "tx",
    "trans",
    "transaction",
    "transactions",
    "msg",
    "msgs",
    "message",
    "messages",
    "throughput",
];

impl Unit {
    /// From its name: `ms`, `µs`, `ops/ms`, `TPS`, `k req/s`.
    pub fn named(name: &str) -> Option<Self> {
        let name = plain(name);
        time_ns(&name).map(Self::Time).or_else(|| rate_per_s(&name).map(Self::Rate))
    }

    /// The number that the other numbers of this unit are multiplied with.
    pub fn size(self) -> f64 {
        match self {
            Self::Time(size) | Self::Rate(size) => size,
        }
    }

    /// Its usual name.
    pub fn name(self) -> String {
        match self {
            Self::Time(1.0) => "ns".to_owned(),
            Self::Time(1e3) => "µs".to_owned(),
            Self::Time(1e6) => "ms".to_owned(),
            Self::Time(1e9) => "s".to_owned(),
            Self::Time(size) => format!("{size} ns"),
            Self::Rate(1.0) => "calls/s".to_owned(),
            Self::Rate(1e3) => "calls/ms".to_owned(),
            Self::Rate(size) => format!("{size} calls/s"),
        }
    }
}

/// Lower case, one way to write micro, no blanks.
fn plain(name: &str) -> String {
    let name = name.trim().to_lowercase().replace('\u{3bc}', "\u{b5}").replace(" per ", "/");
    name.chars().filter(|c| !c.is_whitespace()).collect()
}

fn time_ns(name: &str) -> Option<f64> {
    Some(match name {
        "ns" | "nanos" | "nanosecond" | "nanoseconds" => 1.0,
        "us" | "µs" | "usec" | "micros" | "microsecond" | "microseconds" => 1e3,
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        _ => return None,
    })
}

fn rate_per_s(name: &str) -> Option<f64> {
    let thousands = |rest: &str| {
        if rest.is_empty() {
            None
        } else {
            rest.strip_prefix('k').map(|rest| (1e3, rest.to_owned()))
        }
    };
    if let Some((counted, time)) = name.split_once('/') {
        let (factor, counted) = match COUNTED.contains(&counted) {
            true => (1.0, counted.to_owned()),
            false => thousands(counted)?,
        };
        let per_second = 1e9 / time_ns(time)?;
        return COUNTED.contains(&counted.as_str()).then_some(factor * per_second);
    }
    let (factor, name) = thousands(name).unwrap_or_else(|| (1.0, name.to_owned()));
    ["tps", "qps", "rps", "ops", "cps"].contains(&name.as_str()).then_some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_people_write_them() {
        let check = |name: &str, unit: Option<Unit>| assert_eq!(Unit::named(name), unit, "{name}");
        check("ms", Some(Unit::Time(1e6)));
        check("μs", Some(Unit::Time(1e3)));
        check("µs", Some(Unit::Time(1e3)));
        check(" Seconds ", Some(Unit::Time(1e9)));
        check("TPS", Some(Unit::Rate(1.0)));
        check("ops/ms", Some(Unit::Rate(1e3)));
        check("req/s", Some(Unit::Rate(1.0)));
        check("requests per second", Some(Unit::Rate(1.0)));
        check("kops/s", Some(Unit::Rate(1e3)));
        check("/s", Some(Unit::Rate(1.0)));
        check("k/s", Some(Unit::Rate(1e3)));
        check("MB/s", None);
        check("km", None);
        check("", None);
    }
}
