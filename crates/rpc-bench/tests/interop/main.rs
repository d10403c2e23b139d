//! Foreign programs against the stacks, a named test each: `cargo test --test interop -- grpcio`.
//!
//! What there is stands in `interop/*/trials.toml`; `interop/setup.sh` installs the programs.

mod peers;
mod processes;
mod trial;

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result, anyhow};
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
    let folder = workspace.root.join("interop");
    let peers = Peers::find(&folder)?;
    let stacks: HashMap<String, Arc<Built>> = (workspace.stacks.into_iter())
        .map(|stack| (stack.framework.clone(), Arc::new(Built::later(stack))))
        .collect();
    let mut trials = Vec::new();
    for found in trial::all(&folder, &peers)? {
        let stack = stacks.get(&found.framework).cloned();
        let stack = stack.with_context(|| format!("interop/{} belongs to no stack", found.framework))?;
        match peers.availability(&found.run, &found.needs) {
            Availability::Skipped(reason) => eprintln!("skipped: {} ({reason})", found.name),
            Availability::Missing(reason) => trials.push(Trial::test(found.name, move || Err(reason.into()))),
            Availability::There => {
                let program = peers.command(&found.run, &found.framework);
                trials.push(Trial::test(found.name.clone(), move || {
                    let result = stack.get().and_then(|our| trial::run(&found, our, &program));
                    result.map_err(|error| format!("{error:#}").into())
                }));
            }
        }
    }
    Ok(trials)
}

/// Binaries of a stack, built by the first trial that needs them: a filter or `--list` may leave none.
struct Built {
    stack: Stack,
    our: OnceLock<Result<Our, String>>,
}

impl Built {
    fn later(stack: Stack) -> Self {
        Self {
            stack,
            our: OnceLock::new(),
        }
    }

    fn get(&self) -> Result<&Our> {
        let our = self.our.get_or_init(|| self.build().map_err(|error| format!("{error:#}")));
        our.as_ref().map_err(|error| anyhow!("{error}"))
    }

    fn build(&self) -> Result<Our> {
        Ok(Our {
            server: build(&self.stack.server, "dev")?,
            client: build(&self.stack.client, "dev")?,
        })
    }
}
