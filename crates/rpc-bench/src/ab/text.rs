//! An `ab` in words.

use bench_core::units::{NOTHING, median, percent, three_digits};
use bench_stats::LEAST_PROCESSES;
use serde_json::{Value, json};

use super::{Compared, Finding, Instructions, Measured, Round, instructions};
use crate::report::table::{Align, Table};
use crate::trial::{Figures, MEASURES, Measure, NotReached};

/// Everything that an `ab` has to tell.
#[derive(Debug)]
pub struct AbReport {
    /// What is compared, in a line.
    pub title: String,
    /// What was measured.
    pub measured: Measured,
    /// Instructions per call of A and B, or why there are none.
    pub instructions: Result<[Instructions; 2], String>,
    /// Share by which a measure may be worse.
    pub threshold: f64,
}

impl AbReport {
    /// Names of the measures that are worse by more than the threshold.
    pub fn regressions(&self) -> Vec<&'static str> {
        let beyond = |compared: &&Compared| compared.finding == Finding::Worse && compared.worse_by().is_some_and(|by| by > self.threshold);
        let mut names: Vec<_> = self
            .measured
            .compared
            .iter()
            .filter(beyond)
            .map(|compared| compared.measure.name)
            .collect();
        if !self.missing_in_b().is_empty() {
            names.push("figures that B does not make");
        }
        // Counts vary by less than a hundredth from run to run.
        if self
            .instructions_ratio()
            .is_some_and(|ratio| ratio - 1.0 > self.threshold.max(INSTRUCTIONS_NOISE))
        {
            names.push("instructions/call");
        }
        names
    }

    /// Measures that A has in every round and that B lacks in as many as a comparison needs: B's slices there were INVALID, or did not carry
    /// the rate, which is worse than any figure. Fewer may be chance.
    fn missing_in_b(&self) -> Vec<&'static str> {
        let rounds = &self.measured.rounds;
        let rounds_without = |measure: &Measure, side: fn(&Round) -> &Figures| {
            let lacks = |round: &&Round| (measure.of)(side(round)).is_none();
            rounds.iter().filter(lacks).count()
        };
        let missing = |measure: &&Measure| {
            rounds_without(measure, |round| &round.a) == 0 && rounds_without(measure, |round| &round.b) >= LEAST_PROCESSES
        };
        MEASURES.iter().filter(missing).map(|measure| measure.name).collect()
    }

    /// B / A, both sides together.
    fn instructions_ratio(&self) -> Option<f64> {
        let [a, b] = self.instructions.as_ref().ok()?.map(|side| side.client + side.server);
        (a > 0.0).then(|| b / a)
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}\n{} rounds, {}; open-loop slices at {} calls/s\n\n{}",
            self.title,
            self.measured.rounds.len(),
            self.measured.ended,
            bench_core::units::grouped(self.measured.rate_per_s),
            self.table().text()
        );
        text.push('\n');
        let notes = self.measured.doubts.iter().cloned();
        let notes = notes
            .chain(NotReached::line(&self.measured.not_reached))
            .chain(self.instructions_note());
        text.extend(notes.map(|note| format!("- {note}\n")));
        let missing = self.missing_in_b();
        if !missing.is_empty() {
            text.push_str(&format!(
                "- B has no figure in {LEAST_PROCESSES} rounds or more, and A in all: {} (INVALID slices, or less than 99 % of the calls at the rate)\n",
                missing.join(", ")
            ));
        }
        let beyond = percent(self.threshold);
        text.push_str(&match self.regressions().as_slice() {
            [] => format!("No regression beyond {beyond} is proved.\n"),
            names => format!("REGRESSION beyond {beyond}: {}\n", names.join(", ")),
        });
        text
    }

    fn instructions_note(&self) -> Option<String> {
        Some(match &self.instructions {
            Ok(_) => format!("instructions/call: {}", instructions::COUNTED_AT),
            Err(reason) => format!("instructions/call: not counted: {reason}"),
        })
    }

    fn table(&self) -> Table {
        let columns = ["A", "B", "B / A", "95 % interval", "pairs", "seen from"];
        let mut table = Table::new(
            [("measure", Align::Left)]
                .into_iter()
                .chain(columns.map(|name| (name, Align::Right)))
                .chain([("finding", Align::Left)]),
        );
        for compared in &self.measured.compared {
            let middle = |values: &[f64]| median(values).map_or(NOTHING.to_owned(), compared.measure.show);
            let mut row = vec![compared.measure.name.to_owned(), middle(&compared.a), middle(&compared.b)];
            match &compared.ratio {
                Ok(ratio) => row.extend([
                    format!("{:.3}", ratio.ratio),
                    format!("{:.3}–{:.3}", ratio.low, ratio.high),
                    ratio.pairs.to_string(),
                    compared.seen_from().map_or(NOTHING.to_owned(), percent),
                    finding(compared.finding).to_owned(),
                ]),
                Err(unknown) => row.extend([
                    NOTHING.to_owned(),
                    NOTHING.to_owned(),
                    compared.a.len().to_string(),
                    NOTHING.to_owned(),
                    unknown.to_string(),
                ]),
            }
            table.row(row);
        }
        if let (Ok([a, b]), Some(ratio)) = (&self.instructions, self.instructions_ratio()) {
            let side = |side: &Instructions| {
                format!(
                    "{} ({}+{})",
                    three_digits(side.client + side.server),
                    three_digits(side.client),
                    three_digits(side.server)
                )
            };
            let row = [
                "instructions/call (client+server)".to_owned(),
                side(a),
                side(b),
                format!("{ratio:.3}"),
            ];
            table.row(row.into_iter().chain(["counted", "", "", ""].map(str::to_owned)));
        }
        table
    }

    /// One JSON document.
    pub fn json(&self) -> Value {
        let measures: Vec<Value> = (self.measured.compared.iter())
            .map(|compared| {
                json!({
                    "measure": compared.measure.name,
                    "more_is_better": compared.measure.more_is_better,
                    "a": compared.a,
                    "b": compared.b,
                    "ratio": compared.ratio.as_ref().ok(),
                    "unknown": compared.ratio.as_ref().err().map(ToString::to_string),
                    "seen_from": compared.seen_from(),
                    "finding": compared.finding,
                })
            })
            .collect();
        json!({
            "title": self.title,
            "rounds": self.measured.rounds.len(),
            "ended": self.measured.ended,
            "precision_not_reached": self.measured.not_reached,
            "rate_per_s": self.measured.rate_per_s,
            "measures": measures,
            "instructions_per_call": self.instructions.as_ref().ok().map(|[a, b]| json!({ "a": a, "b": b, "ratio": self.instructions_ratio() })),
            "instructions_unknown": self.instructions.as_ref().err(),
            "doubts": self.measured.doubts,
            "threshold": self.threshold,
            "regressions": self.regressions(),
        })
    }
}

/// Counts of the same two programs differ by less than this from run to run.
const INSTRUCTIONS_NOISE: f64 = 0.01;

fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Better => "better",
        Finding::Worse => "WORSE",
        Finding::Nothing => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    enum Side {
        A,
        B,
    }

    /// Twelve rounds, of which one side has no figure in the first `without`.
    fn report(without: usize, lacks: Side) -> AbReport {
        let figures = |throughput_per_s| Figures {
            throughput_per_s,
            ..Figures::default()
        };
        let round = |a, b| Round {
            a: figures(a),
            b: figures(b),
            a_slices: Vec::new(),
            b_slices: Vec::new(),
        };
        let throughput = |number: usize, side| (number >= without || side != lacks).then_some(1000.0);
        let rounds = (0..12).map(|number| round(throughput(number, Side::A), throughput(number, Side::B)));
        AbReport {
            title: String::new(),
            measured: Measured {
                rate_per_s: 1.0,
                rounds: rounds.collect(),
                compared: Vec::new(),
                ended: String::new(),
                not_reached: Vec::new(),
                doubts: Vec::new(),
                error: None,
            },
            instructions: Err(String::new()),
            threshold: 0.01,
        }
    }

    #[test]
    fn a_side_that_makes_no_figures_is_a_regression() {
        let worse = report(6, Side::B);
        assert_eq!(worse.regressions(), ["figures that B does not make"]);
        let text = worse.text();
        assert!(
            text.contains("B has no figure in 6 rounds or more, and A in all: throughput/s"),
            "{text}"
        );
        // Fewer may be chance, and what A lacks is no fault of B's.
        assert_eq!(report(5, Side::B).regressions(), [""; 0]);
        assert_eq!(report(12, Side::A).regressions(), [""; 0]);
    }
}
