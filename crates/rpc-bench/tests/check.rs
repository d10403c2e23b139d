//! Every check on every wire of every stack that discovery finds, a named test each: `cargo test --test check -- grpc`.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use rpc_bench::check::{CHECKS, builder, subjects};
use rpc_bench::discovery::Workspace;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // They wait for most of their time, and some count on not being starved.
    arguments.test_threads = arguments.test_threads.or(Some(4));
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("the checks cannot be run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> anyhow::Result<Vec<Trial>> {
    let workspace = Workspace::discover(None)?;
    let mut trials = Vec::new();
    for subject in subjects(&workspace, None, builder(None, "dev"))? {
        for check in CHECKS.iter().filter(|check| check.applies_to(&subject)) {
            let name = format!("{} {} {}", subject.programs.stack.framework, subject.wire, check.name);
            let subject = subject.clone();
            trials.push(Trial::test(name, move || {
                check.run(&subject).map_err(|error| Failed::from(format!("{error:#}")))
            }));
        }
    }
    Ok(trials)
}
