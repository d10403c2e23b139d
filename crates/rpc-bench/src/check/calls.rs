//! Calls that must succeed.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::Subject;
use super::process::Serving;

/// Bytes of the request in the smallest form there is (Thrift compact's 552), with room for a smaller one: less did not carry it.
const LEAST_SENT: f64 = 500.0;
/// The same for the reply, which is 54 bytes shorter.
const LEAST_RECEIVED: f64 = 446.0;
/// More than the largest form (JSON's 1,062 bytes) with the headers of any protocol.
const MOST_BYTES: f64 = 4_000.0;

pub(super) fn ready_line_and_end(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let info = &server.info;
    ensure!(
        info.framework == subject.programs.stack.framework,
        "the ready line says framework '{}'",
        info.framework
    );
    ensure!(
        info.wires.contains(&subject.wire),
        "the ready line has other wires: {}",
        info.wires.join(", ")
    );
    ensure!(info.lane == subject.lane, "the ready line says lane {}", info.lane);
    ensure!(
        !info.addr.ends_with(":0"),
        "the ready line does not say which port was bound: {}",
        info.addr
    );
    server.stop()
}

/// The client compares every field, with the one reply before the window and with each one in it.
pub(super) fn all_fields_come_back(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let record = server.client(subject, &["--workload", "echo", "-n", "3", "-c", "1"])?.good()?;
    ensure!(record.calls.ok == 3, "3 calls were asked for, {} were right", record.calls.ok);
    server.stop()
}

pub(super) fn a_message_travels_whole(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let record = server.client(subject, &["--workload", "echo", "-n", "200", "-c", "1"])?.good()?;
    for (way, bytes) in [
        ("sent", record.wire_bytes_sent_per_call),
        ("received", record.wire_bytes_received_per_call),
    ] {
        let bytes = bytes.with_context(|| format!("the record does not say how many bytes were {way}"))?;
        let least = if way == "sent" { LEAST_SENT } else { LEAST_RECEIVED };
        ensure!(
            (least..MOST_BYTES).contains(&bytes),
            "{bytes:.0} bytes were {way} per call: too few to carry the message, or far too many"
        );
    }
    server.stop()
}

pub(super) fn mutated_messages_come_back_mutated(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    server
        .client(subject, &["--workload", "distinct", "-n", "100", "-c", "1"])?
        .good()?;
    server.stop()
}

pub(super) fn replies_reach_the_caller_that_asked(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    let args = ["--workload", "distinct", "-n", "3000", "-c", "64"];
    server.client(subject, &args)?.good()?;
    if subject.shares {
        for pool in ["1", "4"] {
            let shared = [&args[..], &["--pool", pool]].concat();
            server
                .client(subject, &shared)?
                .good()
                .with_context(|| format!("over {pool} shared connections"))?;
        }
    }
    server.stop()
}

pub(super) fn payloads_of_all_sizes(subject: &Subject) -> Result<()> {
    let server = Serving::start(subject, &[])?;
    for size in ["0", "1", "581", "64k", "1m"] {
        let args = ["--workload", "payload", "--payload", size, "-n", "6", "-c", "2"];
        server
            .client(subject, &args)?
            .good()
            .with_context(|| format!("a payload of {size}"))?;
    }
    server.stop()
}

pub(super) fn a_delay_is_kept_and_delays_overlap(subject: &Subject) -> Result<()> {
    const DELAY: Duration = Duration::from_millis(30);
    let server = Serving::start(subject, &["--delay", "30"])?;
    let args = ["--workload", subject.workload(), "-n", "64", "-c", "64"];
    let record = server.client(subject, &args)?.good()?;
    let least_ns = record.service_time_ns.as_ref().context("no times")?.min;
    ensure!(
        u128::from(least_ns) >= DELAY.as_nanos(),
        "a call took {least_ns} ns with a delay of 30 ms"
    );
    // One after the other they would take 1.9 s.
    ensure!(
        record.elapsed_s < 1.0,
        "64 calls of 30 ms at once took {:.2} s: they do not overlap",
        record.elapsed_s
    );
    server.stop()
}
