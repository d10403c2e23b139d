//! Clients and servers that do not belong together.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bench_core::lane::Lane;

use super::Subject;
use super::process::Serving;

/// Longest that a client may take to find out: its `--timeout` and the start of a process on a loaded machine.
const SOON: Duration = Duration::from_secs(15);

pub(super) fn another_lane_is_refused(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let other = match subject.lane {
        Lane::Default => Lane::Tuned,
        Lane::Tuned => Lane::Default,
    };
    let ended = server.client(subject, &["--lane", &other.to_string(), "-n", "1", "-c", "1"])?;
    let sentence = ended.one_sentence(subject)?;
    ensure!(sentence.contains("lane"), "it does not say that the lanes differ: {sentence}");
    server.stop()
}

/// By name, where the server tells its wires. A server that answers another wire as well must serve it.
pub(super) fn a_wire_that_is_not_answered_is_refused(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    for other in subject.client_wires.iter().filter(|wire| **wire != subject.wire) {
        let ended = server.client(subject, &["--wire", other, "-n", "1", "-c", "1"])?;
        if server.info.wires.contains(other) {
            ended.good().with_context(|| format!("wire {other} of the same server"))?;
            continue;
        }
        let sentence = ended.one_sentence(subject).with_context(|| format!("client of wire {other}"))?;
        ensure!(sentence.contains("wire"), "it does not say that the wires differ: {sentence}");
        // As a foreign server would be met: without stats to ask. No call may look right.
        let blind = ["--wire", other, "--stats", "none", "--timeout", "2s", "-n", "1", "-c", "1"];
        let ended = server.client(subject, &blind)?;
        ended
            .one_sentence(subject)
            .with_context(|| format!("client of wire {other}, without stats"))?;
        ensure!(ended.took < SOON, "it took {:?} to find out", ended.took);
    }
    server.stop()
}

pub(super) fn another_framework_is_refused(subject: &Subject) -> Result<()> {
    let stranger = subject.stranger.as_ref().context("there is no other framework")?;
    let server = Serving::start_as(stranger, &["--addr", "127.0.0.1:0", "--lane", &subject.lane.to_string()])?;
    let named = server.client(subject, &["-n", "1", "-c", "1"])?;
    let sentence = named.one_sentence(subject)?;
    ensure!(
        sentence.contains(&stranger.stack.framework),
        "it does not name the other framework: {sentence}"
    );
    let blind = server.client(subject, &["--stats", "none", "--timeout", "2s", "-n", "1", "-c", "1"])?;
    blind.one_sentence(subject).context("without stats")?;
    ensure!(blind.took < SOON, "it took {:?} to find out", blind.took);
    server.stop()
}
