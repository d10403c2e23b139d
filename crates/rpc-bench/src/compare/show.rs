//! A comparison in words, and as JSON.

use bench_core::units::NOTHING;
use serde_json::{Value, json};

use super::{Compared, Comparison, Difference, Figures, Finding, MeasureChange};
use crate::report::render::{Form, heading_of};
use crate::report::rows::RowKey;
use crate::report::table::{Align, Table};
use crate::trial::MEASURES;

impl Comparison {
    /// For a person.
    pub fn text(&self, old: &str, new: &str, form: Form) -> String {
        let mut text = format!("{} → {}\n\n", old, new);
        if self.differences.is_empty() {
            text.push_str("- The same machine, versions, settings and lengths.\n");
        }
        text.extend(self.differences.iter().map(difference));
        // Names tell a row from those of the other tables too, and from those that only one set has.
        let all: Vec<&RowKey> = (self.rows.iter().map(|row| &row.key))
            .chain(&self.only_old)
            .chain(&self.only_new)
            .collect();
        for rows in self.rows.chunk_by(|a, b| a.key.same_table(&b.key)) {
            text.push_str(&one_table(rows, &all, form));
        }
        for (set, keys) in [(old, &self.only_old), (new, &self.only_new)] {
            if !keys.is_empty() {
                let names: Vec<String> = keys
                    .iter()
                    .map(|key| format!("{} ({})", key.name_with_callers(all.iter().copied()), heading_of(key)))
                    .collect();
                text.push_str(&format!("- Only in {set}: {}\n", names.join("; ")));
            }
        }
        let (better, worse) = (self.count(Finding::Better), self.count(Finding::Worse));
        text.push_str(&format!(
            "\nProved, 95 % for all together: {better} better, {worse} worse. Figures are new / old of the ratio to the control's of the same round.\n"
        ));
        text
    }

    fn count(&self, finding: Finding) -> usize {
        self.changes().filter(|change| change.finding == finding).count()
    }

    fn changes(&self) -> impl Iterator<Item = &MeasureChange> {
        let figures = self.rows.iter().filter_map(|row| row.outcome.as_ref().ok());
        figures.flat_map(|figures| match figures {
            Figures::Control(measures) | Figures::Ratios(measures) => measures,
        })
    }

    /// One JSON document.
    pub fn json(&self, old: &str, new: &str) -> Value {
        let row_name = |key: &RowKey| {
            json!({
                "framework": key.framework,
                "wire": key.wire,
                "lane": key.lane,
                "callers": key.callers,
                "connections": key.connections,
                "delay_ms": key.delay_ms,
                "workload": key.workload,
                "payload_bytes": key.payload_bytes,
                "rate_per_s": key.pace.map(|pace| pace.rate_per_s()),
                "cell": key.cell,
            })
        };
        let rows: Vec<Value> = (self.rows.iter())
            .map(|row| {
                let mut object = row_name(&row.key);
                let (is_control, measures, reason) = match &row.outcome {
                    Ok(Figures::Control(measures)) => (true, measures.as_slice(), None),
                    Ok(Figures::Ratios(measures)) => (false, measures.as_slice(), None),
                    Err(reason) => (false, [].as_slice(), Some(reason)),
                };
                object["is_control"] = json!(is_control);
                object["not_comparable"] = json!(reason);
                object["measures"] = measures.iter().map(measure_json).collect();
                object
            })
            .collect();
        json!({
            "old": old,
            "new": new,
            "differences": self.differences,
            "rows": rows,
            "only_old": self.only_old.iter().map(row_name).collect::<Vec<_>>(),
            "only_new": self.only_new.iter().map(row_name).collect::<Vec<_>>(),
        })
    }
}

fn measure_json(measure: &MeasureChange) -> Value {
    json!({
        "measure": measure.measure.name,
        "more_is_better": measure.measure.more_is_better,
        "old": measure.old,
        "new": measure.new,
        "change": measure.change.as_ref().ok(),
        "unknown": measure.change.as_ref().err(),
        "finding": measure.finding,
    })
}

fn difference(difference: &Difference) -> String {
    let said = |values: &[String]| match values {
        [] => "not said".to_owned(),
        _ => values.join(" and "),
    };
    format!("- {}: {} → {}\n", difference.fact, said(&difference.old), said(&difference.new))
}

fn one_table(rows: &[Compared], all: &[&RowKey], form: Form) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let has = |name: &str| rows.iter().flat_map(measures_of).any(|change| change.measure.name == name);
    let measures: Vec<&str> = MEASURES.iter().map(|measure| measure.name).filter(|name| has(name)).collect();
    let heads = [("row", Align::Left), ("callers", Align::Right)].into_iter();
    let mut table = Table::new(heads.chain(measures.iter().map(|name| (*name, Align::Right))));
    for row in rows {
        let cell = |name: &&str| {
            measures_of(row)
                .iter()
                .find(|change| change.measure.name == *name)
                .map_or(NOTHING.to_owned(), shown)
        };
        let identity = [row.key.name(all.iter().copied()), row.key.callers.to_string()];
        table.row(identity.into_iter().chain(measures.iter().map(cell)));
    }
    let mut text = match form {
        Form::Text => format!("\n{}\n\n{}\n", heading_of(&first.key), table.text()),
        Form::Markdown => format!("\n### {}\n\n{}\n", heading_of(&first.key), table.markdown()),
    };
    text.push_str(&notes(rows, all));
    text
}

fn measures_of(row: &Compared) -> &[MeasureChange] {
    match &row.outcome {
        Ok(Figures::Control(measures) | Figures::Ratios(measures)) => measures,
        Err(_) => &[],
    }
}

fn shown(change: &MeasureChange) -> String {
    let interval = change
        .change
        .as_ref()
        .map_or(String::new(), |change| format!(" [{:.3}–{:.3}]", change.low, change.high));
    let finding = match change.finding {
        Finding::Better => " better",
        Finding::Worse => " WORSE",
        Finding::Nothing => "",
    };
    let ratio = change.new.zip(change.old).map(|(new, old)| new / old);
    ratio.map_or(NOTHING.to_owned(), |ratio| format!("{ratio:.3}{interval}{finding}"))
}

/// Why rows have no figures, or no intervals: each reason once.
fn notes(rows: &[Compared], all: &[&RowKey]) -> String {
    let mut of_reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (row, reason) in rows.iter().filter_map(|row| Some((row, note(row)?))) {
        let name = row.key.name_with_callers(all.iter().copied());
        match of_reasons.iter_mut().find(|(there, _)| *there == reason) {
            Some((_, names)) => names.push(name),
            None => of_reasons.push((reason, vec![name])),
        }
    }
    of_reasons
        .into_iter()
        .map(|(reason, names)| format!("- {}: {reason}\n", names.join(", ")))
        .collect()
}

fn note(row: &Compared) -> Option<String> {
    match &row.outcome {
        Err(reason) => Some(format!("not comparable: {reason}")),
        Ok(Figures::Control(_)) => {
            Some("the control: new / old of its own figures, of which nobody knows how much is the machine's.".to_owned())
        }
        Ok(Figures::Ratios(measures)) => {
            let mut of_reasons: Vec<(&String, Vec<&str>)> = Vec::new();
            for (measure, reason) in measures
                .iter()
                .filter_map(|measure| Some((measure.measure.name, measure.change.as_ref().err()?)))
            {
                match of_reasons.iter_mut().find(|(there, _)| *there == reason) {
                    Some((_, names)) => names.push(measure),
                    None => of_reasons.push((reason, vec![measure])),
                }
            }
            let in_words = |(reason, names): (&String, Vec<&str>)| match names.len() == measures.len() {
                true => reason.clone(),
                false => format!("{} ({reason})", names.join(", ")),
            };
            let reasons: Vec<String> = of_reasons.into_iter().map(in_words).collect();
            (!reasons.is_empty()).then(|| format!("not comparable: {}", reasons.join("; ")))
        }
    }
}
