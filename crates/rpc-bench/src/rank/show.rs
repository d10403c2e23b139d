//! A ranking in words, and as JSON.

use bench_core::units::{NOTHING, grouped, median, percent};
use bench_stats::rank::RankRange;
use serde_json::{Value, json};

use super::{Ranked, Report, Standing};
use crate::report::table::{Align, Table};
use crate::trial::NotReached;

impl Report {
    /// For a terminal.
    pub fn text(&self) -> String {
        let repeated = &self.repeated;
        let mut text = format!(
            "{}\n{} rounds, {}; open-loop slices at {} calls/s; ratios are to {}\n",
            self.title,
            repeated.rounds.len(),
            repeated.ended,
            grouped(repeated.rate_per_s),
            self.names.first().map_or("", String::as_str)
        );
        for ranked in self.ranked() {
            text.push_str(&format!("\n{}{}", self.table(&ranked).text(), agreement(&ranked)));
        }
        text.push('\n');
        let notes = repeated.doubts.iter().chain(&self.not_offered).cloned();
        let notes = notes.chain(NotReached::line(&repeated.not_reached));
        text.extend(notes.map(|doubt| format!("- {doubt}\n")));
        text.push_str("A stack has no figure at a rate of which it made less than 99 % of the calls, nor of INVALID slices: lower -r.\n");
        text.push_str("Places with a dash are not told apart by these rounds: 95 % for all places of a table together.\n");
        text
    }

    fn table(&self, ranked: &Ranked) -> Table {
        let heads = [
            ("place", Align::Left),
            ("stack", Align::Left),
            (ranked.measure.name, Align::Right),
            ("ratio", Align::Right),
            ("95 % interval", Align::Right),
        ];
        let mut table = Table::new(heads);
        let mut order: Vec<(&String, &Standing)> = self.names.iter().zip(&ranked.stacks).collect();
        let middle = |standing: &Standing| median(&standing.figures).unwrap_or(f64::NAN);
        order.sort_by(|(_, a), (_, b)| match ranked.measure.more_is_better {
            true => middle(b).total_cmp(&middle(a)),
            false => middle(a).total_cmp(&middle(b)),
        });
        for (name, standing) in order {
            let place = standing.places.map_or(NOTHING.to_owned(), in_words);
            let figure = median(&standing.figures).map_or(NOTHING.to_owned(), ranked.measure.show);
            let mut row = vec![place, name.clone(), figure];
            match &standing.ratio {
                // The control against itself.
                Ok(ratio) if ratio.sd_log == 0.0 && ratio.ratio == 1.0 => row.push("control".to_owned()),
                Ok(ratio) => row.extend([format!("{:.3}", ratio.ratio), format!("{:.3}–{:.3}", ratio.low, ratio.high)]),
                Err(unknown) => row.extend([NOTHING.to_owned(), unknown.to_string()]),
            }
            let missing = self.repeated.rounds.len() - standing.figures.len();
            if missing > 0 {
                row.truncate(3);
                row.extend([
                    NOTHING.to_owned(),
                    format!("no figure in {missing} of {} rounds", self.repeated.rounds.len()),
                ]);
            }
            table.row(row);
        }
        table
    }

    /// One JSON document.
    pub fn json(&self) -> Value {
        let repeated = &self.repeated;
        let measures: Vec<Value> = (self.ranked().iter())
            .map(|ranked| {
                let stacks: Vec<Value> = (self.names.iter().zip(&ranked.stacks))
                    .map(|(name, standing)| {
                        json!({
                            "name": name,
                            "figures": standing.figures,
                            "ratio": standing.ratio.as_ref().ok(),
                            "unknown": standing.ratio.as_ref().err().map(ToString::to_string),
                            "places": standing.places,
                        })
                    })
                    .collect();
                json!({
                    "measure": ranked.measure.name,
                    "more_is_better": ranked.measure.more_is_better,
                    "no_places": ranked.no_places.as_ref().map(ToString::to_string),
                    "stacks": stacks,
                })
            })
            .collect();
        json!({
            "title": self.title,
            "control": self.names.first(),
            "rounds": repeated.rounds.len(),
            "ended": repeated.ended,
            "precision_not_reached": repeated.not_reached,
            "rate_per_s": repeated.rate_per_s,
            "measures": measures,
            "doubts": repeated.doubts,
            "not_offered": self.not_offered,
        })
    }
}

fn in_words(places: RankRange) -> String {
    match places.best == places.worst {
        true => places.best.to_string(),
        false => format!("{}–{}", places.best, places.worst),
    }
}

/// How far rounds are apart: what a single figure is worth, and what a ratio of the same round is.
fn agreement(ranked: &Ranked) -> String {
    if let Some(unknown) = &ranked.no_places {
        return format!("No places: {unknown}.\n");
    }
    let control = ranked.stacks.first().map(|control| control.figures.as_slice()).unwrap_or_default();
    let of_figures: Vec<f64> = ranked.stacks.iter().filter_map(|stack| spread_of_logs(&stack.figures)).collect();
    let is_whole = |stack: &&Standing| stack.figures.len() == control.len();
    let of_ratios: Vec<f64> = (ranked.stacks.iter().skip(1).filter(is_whole))
        .filter_map(|stack| {
            let ratios: Vec<f64> = stack
                .figures
                .iter()
                .zip(control)
                .map(|(figure, control)| figure / control)
                .collect();
            spread_of_logs(&ratios)
        })
        .collect();
    match (median(&of_figures), median(&of_ratios)) {
        (Some(figures), Some(ratios)) => format!(
            "From round to round (1 sd, median of the stacks): the figures move by {}, their ratios by {}.\n",
            percent(figures),
            percent(ratios)
        ),
        _ => String::new(),
    }
}

/// Standard deviation of the natural logarithms.
fn spread_of_logs(figures: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    bench_stats::t_interval(&logs, 0.95).ok().map(|interval| interval.sd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Figures, NotReached, Repeated, Taken};

    /// Three stacks; the second needs twice the control's CPU, the third as much as the control, give or take; the machine wobbles.
    fn report(rounds: usize) -> Report {
        let taken = |throughput: f64| Taken {
            figures: Figures {
                throughput_per_s: Some(throughput),
                ..Figures::default()
            },
            slices: Vec::new(),
        };
        let round = |number: usize| {
            let minute = 1000.0 * (1.0 + 0.2 * (number % 4) as f64);
            let wobble = [1.01, 0.99, 1.0][number % 3];
            vec![taken(minute), taken(minute / 2.0 * wobble), taken(minute * wobble)]
        };
        Report {
            title: "echo".to_owned(),
            names: ["control", "half", "same"].map(str::to_owned).to_vec(),
            repeated: Repeated {
                rate_per_s: 500.0,
                rounds: (0..rounds).map(round).collect(),
                confidence_of_each: 0.95,
                ended: "all rounds were made".to_owned(),
                not_reached: vec![NotReached {
                    stack: "same".to_owned(),
                    measure: "throughput/s",
                    half_width: Some(0.012),
                    target: 0.01,
                }],
                error: None,
                doubts: vec!["half: 1 slices are SUSPECT; the first: others".to_owned()],
            },
            not_offered: Vec::new(),
        }
    }

    #[test]
    fn places_ratios_and_what_rounds_are_worth_stand_in_a_table_for_each_measure() {
        let expected = "\
echo
9 rounds, all rounds were made; open-loop slices at 500 calls/s; ratios are to control

place  stack    throughput/s    ratio  95 % interval
1–2    control         1,200  control
1–2    same            1,200    1.000    0.993–1.007
3      half              600    0.500    0.497–0.503
From round to round (1 sd, median of the stacks): the figures move by 19.5 %, their ratios by 0.9 %.

- half: 1 slices are SUSPECT; the first: others
- ± 1.0 % was not reached: throughput/s ± 1.2 % (same); raise --rounds (at least 6), --time or --precision
A stack has no figure at a rate of which it made less than 99 % of the calls, nor of INVALID slices: lower -r.
Places with a dash are not told apart by these rounds: 95 % for all places of a table together.
";
        assert_eq!(report(9).text(), expected);
    }

    #[test]
    fn a_stack_without_a_figure_in_a_round_has_no_place_and_the_others_have_theirs() {
        let mut report = report(9);
        report.repeated.rounds[4][1].figures.throughput_per_s = None;
        let text = report.text();
        assert!(text.contains("no figure in 1 of 9 rounds"), "{text}");
        assert!(text.contains("1–2    same") && text.contains("n/a    half"), "{text}");
    }

    #[test]
    fn too_few_rounds_have_no_places_and_say_so() {
        let report = report(3);
        assert!(
            report.text().contains("No places: too few runs: 3, at least 6 are needed."),
            "{}",
            report.text()
        );
        let json = report.json();
        assert_eq!(json["measures"][0]["stacks"][1]["places"], Value::Null);
        assert_eq!(json["measures"][0]["stacks"][1]["figures"].as_array().unwrap().len(), 3);
    }
}
