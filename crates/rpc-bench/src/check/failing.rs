//! What must fail, and how.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bench_core::verdict::Verdict;

use super::Subject;
use super::process::Serving;

pub(super) fn an_oversize_message_is_refused(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let args = ["--workload", "payload", "--payload", "128m", "-n", "1", "-c", "1"];
    let ended = server.client(subject, &args)?;
    ensure!(
        ended.code != Some(0),
        "128 MiB were taken: a server without a limit can be made to use up all memory"
    );
    ended.one_sentence(subject)?;
    let after = ["--workload", "payload", "--payload", "581", "-n", "5", "-c", "1"];
    let record = server.client(subject, &after)?;
    ensure!(
        record.code == Some(0),
        "the server does not serve the next client: {}",
        record.words
    );
    server.stop()
}

pub(super) fn a_killed_server_is_counted(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &["--delay", "5"])?;
    let args = [
        "--workload",
        subject.workload(),
        "-c",
        "8",
        "-d",
        "1500ms",
        "--timeout",
        "1s",
        "--drain",
        "500ms",
    ];
    let client = server.start_client(subject, &args)?;
    // Verified, and in the window.
    server.wait_for_calls(50)?;
    server.kill();
    let ended = client.end()?;
    ensure!(ended.code == Some(3), "exit code {:?} instead of 3: {}", ended.code, ended.words);
    let record = ended.record.context("no record")?;
    ensure!(record.calls.failed_total() > 0, "no failed call: {:?}", record.calls);
    ensure!(record.calls.adds_up(), "the counts do not add up: {:?}", record.calls);
    ensure!(record.verdict == Verdict::Invalid, "the verdict is {}", record.verdict);
    ensure!(record.throughput_per_s.is_none(), "it has a throughput");
    Ok(())
}

pub(super) fn a_call_under_way_at_the_stop_is_answered(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &["--delay", "1000"])?;
    let args = ["--workload", subject.workload(), "-n", "1", "-c", "1"];
    let client = server.start_client(subject, &args)?;
    // The verified call; the one after it then has most of its delay before it.
    server.wait_for_calls(1)?;
    std::thread::sleep(Duration::from_millis(300));
    server.stop()?;
    let ended = client.end()?;
    let record = ended.record.context("no record")?;
    ensure!(
        record.calls.ok == 1,
        "a call in its delay when the server was told to stop was not answered: {:?} {:?}",
        record.calls,
        record.failures
    );
    Ok(())
}

pub(super) fn the_port_is_free_after_the_end(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let addr = server.info.addr.clone();
    // A connection that the server closes keeps the port in TIME_WAIT.
    server
        .client(subject, &["--workload", subject.workload(), "-n", "5", "-c", "2"])?
        .good()?;
    server.stop()?;
    let lane = subject.lane.to_string();
    let args = ["--wire", &subject.wire, "--lane", &lane, "--addr", &addr];
    let again = Serving::start_as(&subject.programs, &args).context("a second server on the port of the first")?;
    again.stop()
}
