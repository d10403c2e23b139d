//! The knees for people: one table of all, then the curve of each.

use bench_core::record::Record;
use bench_core::units::{NOTHING, grouped, percent, spread, three_digits, time};
use bench_core::verdict::Verdict;
use serde::Serialize;

use super::curve::{self, bound_by, percentile};
use super::limit::in_words;
use super::result::{Base, Knee, SearchRun};
use super::{BEYOND, KneeSpec};
use crate::report::table::{Align, Table};
use crate::sweep::connections::Connections;
use crate::trial::USUAL_POOL;

/// Everything that came out.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What was measured.
    #[serde(flatten)]
    pub spec: KneeSpec,
    /// Spacing of the calls: `poisson` or `constant`.
    pub arrival: String,
    /// True when somebody asked to stop: what was finished is all there is.
    pub interrupted: bool,
    /// Stacks that were searched with a connection for each caller, and whose callers could share some.
    pub can_share: Vec<String>,
    /// What was asked for and cannot be had, and why.
    pub not_offered: Vec<String>,
    /// One for each stack and wire.
    pub stacks: Vec<Knee>,
}

impl Report {
    /// True when every search found a knee.
    pub fn is_whole(&self) -> bool {
        self.stacks.iter().all(Knee::is_whole)
    }

    /// Tables, and what a reader must know to read them.
    pub fn text(&self) -> String {
        let spec = &self.spec;
        let mut text = format!(
            "p99 response time under {}, {} arrivals; {} on fresh processes each, slices of {} s\n\n",
            time(spec.slo_ns as f64),
            self.arrival,
            match spec.repeats {
                1 => "1 search".to_owned(),
                repeats => format!("{repeats} searches"),
            },
            three_digits(spec.slice_ms as f64 / 1e3),
        );
        if self.interrupted {
            text.push_str("INTERRUPTED: only what was finished is shown.\n\n");
        }
        text.push_str(&self.table().text());
        for note in self.notes() {
            text.push_str(&format!("- {note}\n"));
        }
        for knee in self.stacks.iter().filter(|knee| !knee.curve.is_empty()) {
            text.push_str(&format!("\n{}\n\n{}", heading(knee), curve::table(&knee.curve).text()));
        }
        text
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            ("stack", Align::Left),
            ("callers", Align::Right),
            ("connections", Align::Right),
            ("knee calls/s", Align::Right),
            ("of saturated", Align::Right),
            ("p50 there", Align::Right),
            ("p99 there", Align::Right),
            ("CPU µs/call there", Align::Right),
            ("bound by", Align::Left),
            ("at 1.5 × the knee", Align::Left),
        ]);
        for knee in &self.stacks {
            let there = knee
                .curve
                .iter()
                .find(|point| point.share == 1.0)
                .filter(|_| knee.curve_of != Some(Base::Saturated));
            table.row([
                knee.name.clone(),
                grouped(knee.cell.callers as f64),
                match knee.cell.connections {
                    Connections::PerCaller => grouped(knee.cell.callers as f64),
                    Connections::Shared(number) => format!("{} shared", grouped(f64::from(number))),
                },
                knee.knee_bounds
                    .map_or_else(|| spread(&knees_of(knee), grouped), |bounds| bounds.to_string()),
                knee.of_saturated.map_or(NOTHING.to_owned(), percent),
                there.map_or(NOTHING.to_owned(), |point| percentile(point, point.response_p50_ns)),
                there.map_or(NOTHING.to_owned(), |point| percentile(point, point.response_p99_ns)),
                there
                    .and_then(|point| point.cpu_us_per_call)
                    .map_or(NOTHING.to_owned(), three_digits),
                bound_by(&knee.bound_by),
                match knee.curve_of {
                    Some(Base::Knee) => in_words(&knee.at_limit),
                    _ => NOTHING.to_owned(),
                },
            ]);
        }
        table
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.not_offered.iter().map(|what| format!("not offered: {what}")).collect();
        if !self.can_share.is_empty() {
            notes.push(format!(
                "searched with a connection for each caller; --pool {USUAL_POOL} searches with shared ones: {}",
                self.can_share.join(", ")
            ));
        }
        for knee in &self.stacks {
            for run in knee.searches.iter().filter(|run| run.knee_per_s().is_none()) {
                notes.push(format!("{}, search {}: {}", knee.name, run.round + 1, run.in_words()));
            }
            if (knee.searches.len() as u64) < self.spec.repeats {
                let (finished, asked) = (knee.searches.len(), self.spec.repeats);
                notes.push(format!("{}: {finished} of {asked} searches were finished", knee.name));
            }
            if knee.knee_per_s.is_some_and(|knee| knee * BEYOND > self.spec.rate_limit_per_s) {
                notes.push(format!(
                    "{}: {BEYOND} × the knee is above the highest rate that may be tried, {} calls/s",
                    knee.name,
                    grouped(self.spec.rate_limit_per_s)
                ));
            }
            let broken: Vec<String> = (knee.curve.iter())
                .flat_map(|point| (point.broken.iter()).map(move |error| format!("at {} calls/s: {error}", grouped(point.rate_per_s))))
                .collect();
            notes.extend(broken.iter().map(|error| format!("{}, {error}", knee.name)));
            notes.extend(doubts(knee));
        }
        notes
    }
}

fn knees_of(knee: &Knee) -> Vec<f64> {
    knee.searches.iter().filter_map(SearchRun::knee_per_s).collect()
}

fn heading(knee: &Knee) -> String {
    let of = match knee.curve_of {
        Some(Base::Saturated) => "no rate passed; shares are of the saturated throughput",
        Some(Base::Passed) => "no knee was found; shares are of the highest rate that passed",
        _ => "shares are of the knee",
    };
    format!("{}: {of}", knee.name)
}

/// How many slices something disturbed, and what the first of them was told. Beyond the knee calls may fail: that is shown by itself.
fn doubts(knee: &Knee) -> Option<String> {
    let slices = || {
        let searched = knee.searches.iter().flat_map(|run| {
            let probes = run.probes.iter().filter_map(|probe| probe.record.as_deref());
            probes.chain(run.saturated.as_deref())
        });
        searched.chain(knee.curve.iter().flat_map(|point| &point.records))
    };
    let suspect: Vec<&Record> = slices()
        .filter(|record| record.verdict == Verdict::Suspect && record.calls.failed_total() == 0)
        .collect();
    let first = suspect.first()?.verdict_reasons.join("; ");
    Some(format!(
        "{}: {} of {} slices SUSPECT: {first}",
        knee.name,
        suspect.len(),
        slices().count()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::judge::tests::slice;
    use super::super::point::Point;
    use super::super::result::tests::{knee, run, run_to, spec};
    use super::super::search::End;
    use super::*;

    fn report() -> Report {
        let mut good = knee(vec![run(Some(1_000.0), Some(1_250.0)), run(Some(1_100.0), Some(1_250.0))]);
        let mut late = slice([900; 1_000]);
        late.calls.unsent = 500;
        late.calls.due += 500;
        late.oldest_unanswered_ms = Some(330.0);
        let mut doubtful = slice([300; 1_050]);
        doubtful.verdict = Verdict::Suspect;
        doubtful.verdict_reasons.push("others used 4.0 % of the machine's CPU".to_owned());
        let point = |share, slice| Point::of(share, share * 1_050.0, vec![slice], Vec::new(), 5_000_000).unwrap();
        good.add_curve(vec![point(1.0, doubtful), point(1.5, late)], 5_000_000);
        Report {
            spec: KneeSpec { repeats: 2, ..spec() },
            arrival: "poisson".to_owned(),
            interrupted: false,
            can_share: vec!["m h2/x".to_owned(), "n ws/x".to_owned()],
            not_offered: vec!["x y/z: no".to_owned()],
            stacks: vec![good, knee(vec![run(None, None); 2])],
        }
    }

    #[test]
    fn all_knees_stand_in_one_table_and_each_curve_in_its_own() {
        let report = report();
        let expected = "\
p99 response time under 5.00 ms, poisson arrivals; 2 searches on fresh processes each, slices of 1.00 s

stack             callers  connections         knee calls/s  of saturated  p50 there  p99 there  CPU µs/call there  bound by  at 1.5 × the knee
tcp tcp/protobuf       50           50  1,050 (1,000–1,100)        84.0 %     300 µs     300 µs               23.5  client    queues
tcp tcp/protobuf       50           50                  n/a           n/a        n/a        n/a                n/a  n/a       n/a
- not offered: x y/z: no
- searched with a connection for each caller; --pool 10 searches with shared ones: m h2/x, n ws/x
- tcp tcp/protobuf: 1 of 4 slices SUSPECT: others used 4.0 % of the machine's CPU
- tcp tcp/protobuf, search 1: not measured: no port is free
- tcp tcp/protobuf, search 1: not measured: no port is free

tcp tcp/protobuf: shares are of the knee

share  due/s  goodput/s  sent/due     p50       p99  oldest unanswered  CPU µs/call  failed  bound by
 1.00  1,050      1,050     1.000  300 µs    300 µs                            23.5          n/a
 1.50  1,575      1,000     0.667  900 µs  > 900 µs             330 ms         23.5          n/a
";
        assert_eq!(report.text(), expected);
        assert!(!report.is_whole());
    }

    #[test]
    fn bounds_are_shown_as_such_and_the_search_that_was_left_open_says_why() {
        let mut bounded = knee(vec![
            run_to(End::RateLimit, 13_000.0, None),
            run_to(End::ProbesUsed, 9_000.0, Some(12_000.0)),
        ]);
        let point = Point::of(1.0, 11_000.0, vec![slice([300; 100])], Vec::new(), 5_000_000).unwrap();
        bounded.add_curve(vec![point], 5_000_000);
        let text = Report {
            stacks: vec![bounded],
            ..report()
        }
        .text();
        let row = text.lines().find(|line| line.starts_with("tcp tcp/protobuf ")).unwrap();
        assert!(
            row.contains("  ≥ 11,000  ") && row.contains("300 µs") && row.ends_with("n/a"),
            "{text}"
        );
        assert!(
            text.contains("search 1: ≥ 13,000 calls/s: the highest rate that may be tried passed"),
            "{text}"
        );
        let slices_over = "search 1: ≥ 9,000, < 12,000 calls/s: 1 slices did not narrow it further";
        assert!(text.contains(slices_over), "{text}");
        assert!(
            text.contains("no knee was found; shares are of the highest rate that passed"),
            "{text}"
        );
    }

    #[test]
    fn a_curve_that_the_rate_limit_cut_short_says_so() {
        let stacks = vec![knee(vec![run(Some(9_000.0), Some(10_000.0)); 2])];
        let text = Report { stacks, ..report() }.text();
        assert!(text.contains("  not measured\n"), "{text}");
        assert!(
            text.contains("1.5 × the knee is above the highest rate that may be tried, 13,000 calls/s"),
            "{text}"
        );
    }

    #[test]
    fn what_an_interruption_left_undone_is_said() {
        let report = Report {
            interrupted: true,
            stacks: vec![knee(vec![run(Some(1_000.0), Some(1_250.0))])],
            ..report()
        };
        let text = report.text();
        assert!(
            text.contains("\nINTERRUPTED: ") && text.contains("1 of 2 searches were finished"),
            "{text}"
        );
        assert_eq!(serde_json::to_value(&report).unwrap()["interrupted"], true);
    }

    #[test]
    fn the_document_holds_the_spec_the_searches_and_the_slices() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!((&json["slo_ns"], &json["arrival"]), (&5_000_000.into(), &"poisson".into()));
        let stack = &json["stacks"][0];
        assert_eq!((&stack["knee_per_s"], &stack["at_limit"][0]), (&1_050.0.into(), &"queues".into()));
        assert_eq!(stack["searches"][0]["found"]["end"], "found");
        assert_eq!(stack["searches"][0]["probes"][0]["passed"], false);
        assert_eq!(stack["curve"][1]["records"][0]["calls"]["unsent"], 500);
        assert_eq!(json["stacks"][1]["searches"][0]["error"], "no port is free");
    }
}
