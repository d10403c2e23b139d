//! `rpc-bench list`: what there is to measure.

use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use super::TextOrJson;
use crate::discovery::{Stack, Workspace};
use crate::offer::{Entry, ask_server};
use crate::programs::Programs;
use crate::report::table::{Align, Table};
use crate::usage;
use bench_core::talk;

/// Flags of `list`.
#[derive(Debug, clap::Args)]
#[command(after_help = "It builds the binaries, for they know best what they offer.\n\n\
    Examples:\n  rpc-bench list\n  rpc-bench list --output json | jq '.[].framework'")]
pub struct ListArgs {
    /// How to print
    #[arg(long, value_enum, default_value = "text")]
    output: TextOrJson,
    /// Cargo profile to build the binaries with (dev and release generate the same code here)
    #[arg(long, default_value = "dev", value_name = "NAME")]
    profile: String,
}

/// A stack as `--output json` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    framework: String,
    library: String,
    library_version: Option<String>,
    server: String,
    client: String,
    entries: Vec<Entry>,
}

pub(super) fn run(args: &ListArgs, manifest: Option<&Path>) -> Result<u8> {
    let workspace = Workspace::discover(manifest)?;
    let stacks = workspace
        .stacks
        .into_iter()
        .map(|stack| ask(stack, manifest, &args.profile))
        .collect::<Result<Vec<_>>>()?;
    match args.output {
        TextOrJson::Json => talk::print(&format!("{}\n", serde_json::to_string_pretty(&stacks)?))?,
        TextOrJson::Text => talk::print(&table(&stacks).text())?,
    }
    Ok(usage::GOOD)
}

/// What the stack's own binaries say.
fn ask(stack: Stack, manifest: Option<&Path>, profile: &str) -> Result<Listed> {
    let (programs, offer) = Programs::build_and_ask(manifest, stack, profile)?;
    let stack = programs.stack;
    let wires = ask_server(&stack.server, &programs.server)?.wires;
    for entry in &offer.entries {
        if !wires.contains(&entry.wire) {
            talk::say(format_args!(
                "warning: {} offers wire '{}', which {} does not serve",
                stack.client, entry.wire, stack.server
            ));
        }
    }
    Ok(Listed {
        framework: stack.framework,
        library: stack.library,
        library_version: stack.library_version,
        server: stack.server,
        client: stack.client,
        entries: offer.entries,
    })
}

fn table(stacks: &[Listed]) -> Table {
    let mut table =
        Table::new(["framework", "library", "version", "wire", "workload", "connections", "flagship"].map(|name| (name, Align::Left)));
    for stack in stacks {
        for entry in &stack.entries {
            table.row([
                stack.framework.clone(),
                stack.library.clone(),
                stack.library_version.clone().unwrap_or_else(|| "n/a".to_owned()),
                entry.wire.clone(),
                entry.workload.clone(),
                if entry.shares { "own or shared" } else { "one per caller" }.to_owned(),
                if entry.flagship { "yes" } else { "" }.to_owned(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_workload_of_each_wire() {
        let entry = |wire: &str, shares, flagship| Entry {
            wire: wire.to_owned(),
            workload: "echo".to_owned(),
            shares,
            sized: false,
            blocking: false,
            flagship,
        };
        let stack = Listed {
            framework: "grpc".to_owned(),
            library: "tonic".to_owned(),
            library_version: Some("0.14.9".to_owned()),
            server: "grpc-server".to_owned(),
            client: "grpc-client".to_owned(),
            entries: vec![entry("h2/protobuf", true, true), entry("h1/json", false, false)],
        };
        let expected = "\
framework  library  version  wire         workload  connections     flagship
grpc       tonic    0.14.9   h2/protobuf  echo      own or shared   yes
grpc       tonic    0.14.9   h1/json      echo      one per caller
";
        assert_eq!(table(&[stack]).text(), expected);
    }
}
