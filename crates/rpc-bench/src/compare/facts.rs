//! What two sets differ by beside their figures: machine, versions, settings, lengths.

use std::collections::{BTreeMap, BTreeSet};

use bench_core::record::{ProcessUse, Record};
use bench_core::verdict::Verdict;
use serde::Serialize;
use serde_json::Value;

use crate::report::rows::Row;

/// A fact that is not the same in both sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which, for example `kernel` or `grpc: tonic`.
    pub fact: String,
    /// In the old set; several where its runs differ; empty where it is not said.
    pub old: Vec<String>,
    /// In the new set.
    pub new: Vec<String>,
}

/// All facts that differ over the rows of both sets.
pub fn differences(pairs: &[(&Row, &Row)]) -> Vec<Difference> {
    let (old, new): (Vec<&Row>, Vec<&Row>) = pairs.iter().copied().unzip();
    let (mut old, mut new) = (all_facts(&old), all_facts(&new));
    let names: BTreeSet<Fact> = old.keys().chain(new.keys()).cloned().collect();
    let side = |facts: &mut BTreeMap<Fact, BTreeSet<String>>, name: &Fact| facts.remove(name).unwrap_or_default().into_iter().collect();
    let all = names.into_iter().map(|name| Difference {
        old: side(&mut old, &name),
        new: side(&mut new, &name),
        fact: name.1,
    });
    all.filter(|difference| difference.old != difference.new).collect()
}

/// Whether the figures of two rows can be set beside each other at all.
///
/// # Errors
/// Why not.
pub fn same_ground(old: &Row, new: &Row) -> Result<(), String> {
    for (set, row) in [("old", old), ("new", new)] {
        if row.verdict() == Some(Verdict::Invalid) {
            return Err(format!("INVALID in the {set} set"));
        }
    }
    let same = |what: &str, of: fn(&Record) -> String| {
        let values = |row: &Row| row.records.iter().map(of).collect::<BTreeSet<_>>();
        let said = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" and ");
        let (old, new) = (values(old), values(new));
        match old == new {
            true => Ok(()),
            false => Err(format!("{what}: {}, now {}", said(old), said(new))),
        }
    };
    same("another machine", |record| {
        format!("{} with {} CPUs", record.host.info.cpu_model, record.host.info.cpus)
    })?;
    same("other CPUs for client and server", |record| {
        format!("{} / {}", cpus(record.client.as_ref()), cpus(record.server.as_ref()))
    })
}

fn cpus(side: Option<&ProcessUse>) -> String {
    match side {
        None => "unknown".to_owned(),
        Some(side) => side.cpus.as_ref().map_or("any".to_owned(), |cpus| format!("{cpus:?}")),
    }
}

/// Place in the order, and name.
type Fact = (u8, String);

fn all_facts(rows: &[&Row]) -> BTreeMap<Fact, BTreeSet<String>> {
    let mut facts: BTreeMap<Fact, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        for record in &row.records {
            for (fact, value) in facts_of(record) {
                facts.entry(fact).or_default().insert(value);
            }
        }
        facts
            .entry((3, "rounds".to_owned()))
            .or_default()
            .insert(row.records.len().to_string());
        if let Some(cell) = &row.key.cell {
            let seconds = |ms: u64| format!("{} s", ms as f64 / 1000.0);
            facts
                .entry((3, "measured".to_owned()))
                .or_default()
                .insert(seconds(cell.measure_ms));
            facts.entry((3, "warm-up".to_owned())).or_default().insert(seconds(cell.warmup_ms));
            let calls = cell.calls.map_or("any number".to_owned(), |calls| calls.to_string());
            facts.entry((3, "calls".to_owned())).or_default().insert(calls);
        }
    }
    facts
}

fn facts_of(record: &Record) -> Vec<(Fact, String)> {
    let (host, build) = (&record.host, &record.build);
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let mut facts: Vec<(Fact, String)> = [
        (0, "label", host.label.clone()),
        (0, "CPU", host.info.cpu_model.clone()),
        (0, "CPUs", host.info.cpus.to_string()),
        (0, "memory", bench_core::units::memory(host.info.memory_bytes)),
        (0, "kernel", host.info.kernel.clone()),
        (0, "governor", or_none(&host.info.governor)),
        (1, "compiler", build.rustc.clone()),
        (1, "profile", build.profile.clone()),
        (1, "allocator", build.allocator.clone()),
        (1, "commit", or_none(&build.git_commit)),
    ]
    .map(|(place, name, value)| ((place, name.to_owned()), value))
    .into();
    let of_stack = |name: &str| format!("{}: {name}", record.framework);
    facts.extend(build.versions.iter().map(|(name, version)| ((1, of_stack(name)), version.clone())));
    let prefix = format!("{} {} {}", record.framework, record.wire, record.lane);
    for (name, value) in &record.settings {
        flatten(&format!("{prefix}: {name}"), value, &mut facts);
    }
    facts
}

/// Settings of the server are an object inside those of the client.
fn flatten(name: &str, value: &Value, facts: &mut Vec<(Fact, String)>) {
    match value {
        Value::Object(inner) => inner
            .iter()
            .for_each(|(key, value)| flatten(&format!("{name} {key}"), value, facts)),
        Value::String(text) => facts.push(((2, name.to_owned()), text.clone())),
        other => facts.push(((2, name.to_owned()), other.to_string())),
    }
}
