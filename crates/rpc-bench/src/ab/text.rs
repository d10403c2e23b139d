//! An `ab` in words.

use bench_core::units::{NOTHING, median, three_digits};
use serde_json::{Value, json};

use super::{Compared, Finding, Instructions, Measured, Round};
use crate::report::table::{Align, Table};
use crate::trial::{Figures, MEASURES, Measure};

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

    /// Measures that A has in every round and that B lacks in as many as a comparison needs: B's slices there were INVALID, or did not carry the
    /// rate, which is worse than any figure. Fewer may be chance: six such rounds out of six are one in 64.
    fn missing_in_b(&self) -> Vec<&'static str> {
        let rounds_with = |measure: Measure, side: fn(&Round) -> &Figures| {
            let has = |round: &&Round| (measure.of)(side(round)).is_some();
            self.measured.rounds.iter().filter(has).count()
        };
        let missing = |measure: &Measure| rounds_with(*measure, |round| &round.a) > rounds_with(*measure, |round| &round.b);
        MEASURES
            .iter()
            .filter(|measure| missing(measure))
            .map(|measure| measure.name)
            .collect()
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
        for doubt in &self.measured.doubts {
            text.push_str(&format!("- {doubt}\n"));
        }
        let missing = self.missing_in_b();
        if !missing.is_empty() {
            text.push_str(&format!(
                "- B has no figure in rounds in which A has one: {} (INVALID slices, or less than 99 % of the calls at the rate)\n",
                missing.join(", ")
            ));
        }
        if let Err(reason) = &self.instructions {
            text.push_str(&format!("- instructions/call: not counted: {reason}\n"));
        }
        text.push_str(&match self.regressions().as_slice() {
            [] => format!("No regression beyond {:.1} % is proved.\n", self.threshold * 100.0),
            names => format!("REGRESSION beyond {:.1} %: {}\n", self.threshold * 100.0, names.join(", ")),
        });
        text
    }

    fn table(&self) -> Table {
        let columns = ["A", "B", "B / A", "95 % interval", "pairs"];
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
                    finding(compared.finding).to_owned(),
                ]),
                Err(unknown) => row.extend([
                    NOTHING.to_owned(),
                    NOTHING.to_owned(),
                    compared.a.len().to_string(),
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
            table.row(row.into_iter().chain(["counted", "", ""].map(str::to_owned)));
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
                    "finding": compared.finding,
                })
            })
            .collect();
        json!({
            "title": self.title,
            "rounds": self.measured.rounds.len(),
            "ended": self.measured.ended,
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

    /// A pair of which only A, or only B, has a figure in the second round.
    fn report(a_has_it: bool) -> AbReport {
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
        let (some, none) = (Some(1000.0), None);
        let second = if a_has_it { round(some, none) } else { round(none, some) };
        AbReport {
            title: String::new(),
            measured: Measured {
                rate_per_s: 1.0,
                rounds: vec![round(some, some), second],
                compared: Vec::new(),
                ended: String::new(),
                doubts: Vec::new(),
                error: None,
            },
            instructions: Err(String::new()),
            threshold: 0.01,
        }
    }

    #[test]
    fn a_side_that_makes_no_figures_is_a_regression() {
        let worse = report(true);
        assert_eq!(worse.regressions(), ["figures that B does not make"]);
        assert!(
            worse.text().contains("B has no figure in rounds in which A has one: throughput/s"),
            "{}",
            worse.text()
        );
        assert_eq!(report(false).regressions(), [""; 0]);
    }
}
