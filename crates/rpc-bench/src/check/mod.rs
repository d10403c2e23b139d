//! What the suite asks of every framework, wire by wire, looked at from outside: the stack's own server and client as processes.
//!
//! A check makes a claim and fails with the reason. `rpc-bench check` runs them for people, `tests/check.rs` as tests, and a sweep runs
//! them before its first cell: a wire that fails one has no throughput figure.

mod calls;
mod failing;
pub mod matrix;
mod process;
mod strangers;

use anyhow::{Context, Result};
use bench_core::lane::Lane;

use crate::build::build_in;
use crate::discovery::{Stack, Workspace};
use crate::programs::Programs;

/// A wire of a stack, and what a check needs to know about it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The stack and its binaries.
    pub programs: Programs,
    /// `transport/codec`.
    pub wire: String,
    /// Lane that the checks run in.
    pub lane: Lane,
    pub(crate) workloads: Vec<String>,
    pub(crate) shares: bool,
    /// All wires of the stack's client.
    pub(crate) client_wires: Vec<String>,
    /// A stack of another framework.
    pub(crate) stranger: Option<Programs>,
}

/// A claim about a wire.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Short name, in words with `_`.
    pub name: &'static str,
    applies: fn(&Subject) -> bool,
    run: fn(&Subject) -> Result<()>,
}

/// All checks, cheap ones first.
pub const CHECKS: [Check; 14] = [
    Check::of_all("ready_line_and_end", calls::ready_line_and_end),
    Check::of_echo("all_40_fields_come_back", calls::all_fields_come_back),
    Check::of_echo("a_message_travels_whole", calls::a_message_travels_whole),
    Check::of_echo("mutated_messages_come_back_mutated", calls::mutated_messages_come_back_mutated),
    Check::of_echo("replies_reach_the_caller_that_asked", calls::replies_reach_the_caller_that_asked),
    Check::of_payload("payloads_from_0_to_1_mib", calls::payloads_of_all_sizes),
    Check::of_all("a_delay_is_kept_and_delays_overlap", calls::a_delay_is_kept_and_delays_overlap),
    Check::of_payload("an_oversize_message_is_refused", failing::an_oversize_message_is_refused),
    Check::of_all("a_killed_server_is_counted", failing::a_killed_server_is_counted),
    Check::of_all(
        "a_call_under_way_at_the_stop_is_answered",
        failing::a_call_under_way_at_the_stop_is_answered,
    ),
    Check::of_all("the_port_is_free_after_the_end", failing::the_port_is_free_after_the_end),
    Check::of_all("another_lane_is_refused", strangers::another_lane_is_refused),
    Check {
        name: "a_wire_that_is_not_answered_is_refused",
        applies: |subject| subject.client_wires.len() > 1,
        run: strangers::a_wire_that_is_not_answered_is_refused,
    },
    Check {
        name: "another_framework_is_refused",
        applies: |subject| subject.stranger.is_some(),
        run: strangers::another_framework_is_refused,
    },
];

impl Check {
    const fn of_all(name: &'static str, run: fn(&Subject) -> Result<()>) -> Self {
        Self {
            name,
            applies: |_| true,
            run,
        }
    }

    const fn of_echo(name: &'static str, run: fn(&Subject) -> Result<()>) -> Self {
        Self {
            name,
            applies: |subject| subject.offers("echo"),
            run,
        }
    }

    const fn of_payload(name: &'static str, run: fn(&Subject) -> Result<()>) -> Self {
        Self {
            name,
            applies: |subject| subject.offers("payload"),
            run,
        }
    }

    /// False where there is nothing to check: the wire does not offer the service.
    pub fn applies_to(&self, subject: &Subject) -> bool {
        (self.applies)(subject)
    }

    /// Runs it. Every wait in it is bounded, and its processes are gone when it returns.
    ///
    /// # Errors
    /// What is not as claimed.
    pub fn run(&self, subject: &Subject) -> Result<()> {
        (self.run)(subject).with_context(|| format!("{} {}: {}", subject.programs.stack.framework, subject.wire, self.name))
    }
}

impl Subject {
    fn offers(&self, workload: &str) -> bool {
        self.workloads.iter().any(|name| name == workload)
    }

    /// A workload that the wire has: echo before others.
    fn workload(&self) -> &str {
        match self.offers("echo") {
            true => "echo",
            false => self.workloads.first().map_or("echo", String::as_str),
        }
    }
}

/// Builds the stacks and asks them for their wires. `framework`: only this one's; the others are still built, as strangers, one at most.
///
/// # Errors
/// When a package cannot be built or does not answer.
pub fn subjects(
    workspace: &Workspace,
    framework: Option<&str>,
    build: impl Fn(&str) -> Result<std::path::PathBuf>,
) -> Result<Vec<Subject>> {
    let build_stack = |stack: &Stack| -> Result<Programs> {
        Ok(Programs {
            stack: stack.clone(),
            server: build(&stack.server)?,
            client: build(&stack.client)?,
        })
    };
    let mut subjects = Vec::new();
    for stack in &workspace.stacks {
        if framework.is_some_and(|name| name != stack.framework) {
            continue;
        }
        let programs = build_stack(stack)?;
        let stranger = workspace.stacks.iter().find(|other| other.framework != stack.framework);
        let stranger = stranger.map(build_stack).transpose()?;
        subjects.extend(subjects_of(&programs, stranger.as_ref())?);
    }
    Ok(subjects)
}

/// The wires of one stack.
///
/// # Errors
/// When a binary does not say what it offers.
pub fn subjects_of(programs: &Programs, stranger: Option<&Programs>) -> Result<Vec<Subject>> {
    let offer = programs.offer()?;
    let client_wires: Vec<String> = offer.wires().into_iter().map(ToOwned::to_owned).collect();
    let subject = |wire: &String| {
        let entries = || offer.entries.iter().filter(|entry| entry.wire == *wire);
        Subject {
            programs: programs.clone(),
            wire: wire.clone(),
            lane: Lane::Default,
            workloads: entries().map(|entry| entry.workload.clone()).collect(),
            shares: entries().any(|entry| entry.shares),
            client_wires: client_wires.clone(),
            stranger: stranger.cloned(),
        }
    };
    Ok(client_wires.iter().map(subject).collect())
}

/// Builds with a profile, in the workspace of a Cargo.toml.
pub fn builder<'a>(manifest: Option<&'a std::path::Path>, profile: &'a str) -> impl Fn(&str) -> Result<std::path::PathBuf> + 'a {
    move |package| build_in(manifest, package, profile)
}
