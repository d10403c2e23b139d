//! Foreign programs against the stacks, a named test each: `cargo test --test interop -- grpcio`.
//!
//! What there is stands in `interop/*/trials.toml`; `interop/setup.sh` installs the programs.

mod peers;
mod processes;
mod trial;

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use libtest_mimic::{Arguments, Trial};
use peers::{Availability, Peers};
use rpc_bench::build::build;
use rpc_bench::discovery::{Stack, Workspace};
use trial::Our;

/// Python's and JavaScript's start-up takes most of the time, and a core each.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(AT_ONCE));
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("the interop tests cannot be run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>> {
    let workspace = Workspace::discover(None)?;
    let peers = Peers::find(&workspace.root.join("interop"))?;
    let mut built = HashMap::new();
    let mut trials = Vec::new();
    for found in trial::all(&workspace.root.join("interop"), &peers)? {
        match peers.availability(&found.run, &found.needs) {
            Availability::Skipped(reason) => eprintln!("skipped: {} ({reason})", found.name),
            Availability::Missing(reason) => trials.push(Trial::test(found.name, move || Err(reason.into()))),
            Availability::There => {
                let stack = (workspace.stacks.iter())
                    .find(|stack| stack.framework == found.framework)
                    .with_context(|| format!("interop/{} belongs to no stack", found.framework))?;
                if !built.contains_key(&found.framework) {
                    built.insert(found.framework.clone(), build_both(stack)?);
                }
                let our = built[&found.framework].clone();
                let program = peers.command(&found.run, &found.framework);
                trials.push(Trial::test(found.name.clone(), move || {
                    trial::run(&found, &our, &program).map_err(|error| format!("{error:#}").into())
                }));
            }
        }
    }
    Ok(trials)
}

fn build_both(stack: &Stack) -> Result<Our> {
    Ok(Our {
        server: build(&stack.server, "dev")?,
        client: build(&stack.client, "dev")?,
    })
}
