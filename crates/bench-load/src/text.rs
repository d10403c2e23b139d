//! The summary that a person reads.

use std::fmt::Write as _;

use bench_core::histogram::TimesSummary;
use bench_core::record::{Mode, ProcessUse, Record};
use bench_core::units::{NOTHING, calls_per_s, grouped, memory, percent, time};
use bench_core::verdict::Verdict;

/// The whole summary.
pub(crate) fn summary(record: &Record) -> String {
    let mut text = String::new();
    header(&mut text, record);
    throughput(&mut text, record);
    times(&mut text, record);
    cost(&mut text, record);
    delay(&mut text, record);
    calls(&mut text, record);
    verdict(&mut text, record);
    text.truncate(text.trim_end().len());
    text
}

fn header(text: &mut String, record: &Record) {
    let pace = match (record.rate_per_s, &record.arrival) {
        (Some(rate), Some(arrival)) => format!("open loop of {} calls/s, {arrival} arrivals", calls_per_s(rate)),
        _ => "closed loop".to_owned(),
    };
    line(
        text,
        &format!(
            "{} ({} {}), {}, {} lane, {} of {} bytes, {pace}",
            record.framework, record.library, record.library_version, record.wire, record.lane, record.workload, record.payload_bytes
        ),
    );
    line(
        text,
        &format!(
            "{} callers on {} connections for {:.2} s, after {:.2} s of connecting and {:.2} s of warm-up\n",
            record.concurrency, record.connections, record.elapsed_s, record.connect_s, record.warmup_s
        ),
    );
}

fn throughput(text: &mut String, record: &Record) {
    let rate = record
        .throughput_per_s
        .map_or(NOTHING.to_owned(), |rate| format!("{} calls/s", grouped(rate)));
    row(text, "throughput", &rate);
    if let Some(theory) = record.theoretical_throughput_per_s {
        let share = record.theoretical_share.map_or(NOTHING.to_owned(), percent);
        row(
            text,
            "in theory",
            &format!(
                "{} calls/s (callers / delay); reached {share} of callers / (delay + idle timer lateness)",
                grouped(theory)
            ),
        );
    }
}

fn times(text: &mut String, record: &Record) {
    if record.mode == Mode::Open {
        one_of_times(text, "response time", record.response_time_ns.as_ref());
    }
    one_of_times(text, "service time", record.service_time_ns.as_ref());
    if record.mode == Mode::Open {
        one_of_times(text, "send lag", record.send_lag_ns.as_ref());
        one_of_times(text, "of it the pacer's", record.pacer_lag_ns.as_ref());
    }
}

fn one_of_times(text: &mut String, name: &str, times: Option<&TimesSummary>) {
    let Some(times) = times else {
        return row(text, name, NOTHING);
    };
    row(
        text,
        name,
        &format!(
            "mean {}   median {}   min {}   max {}",
            time(times.mean),
            time(times.p50 as f64),
            time(times.min as f64),
            time(times.max as f64)
        ),
    );
    row(
        text,
        "",
        &format!(
            "p90 {}   p99 {}   p99.9 {}",
            time(times.p90 as f64),
            time(times.p99 as f64),
            time(times.p99_9 as f64)
        ),
    );
    if times.overflow > 0 {
        row(text, "", &format!("{} calls took longer than 60 s", times.overflow));
    }
}

fn cost(text: &mut String, record: &Record) {
    let micros = |us: Option<f64>| us.map_or(NOTHING.to_owned(), |us| format!("{us:.2} µs"));
    let cpu = |side: &Option<ProcessUse>| micros(side.as_ref().and_then(|side| side.cpu_us_per_call));
    row(
        text,
        "CPU per call",
        &format!(
            "{} = client {} + server {}",
            micros(record.cpu_us_per_call_sum),
            cpu(&record.client),
            cpu(&record.server)
        ),
    );
    let memory = |side: &Option<ProcessUse>| side.as_ref().map_or(NOTHING.to_owned(), |side| memory(side.peak_rss_bytes));
    row(
        text,
        "peak memory",
        &format!("client {}, server {}", memory(&record.client), memory(&record.server)),
    );
    let figure = |value: Option<f64>| value.map_or(NOTHING.to_owned(), |value| format!("{value:.1}"));
    let allocations = |side: &Option<ProcessUse>| side.as_ref().and_then(|side| side.allocations_per_call);
    let (client, server) = (allocations(&record.client), allocations(&record.server));
    if client.or(server).is_some() {
        let counted = format!("client {}, server {} per call", figure(client), figure(server));
        row(text, "allocations", &counted);
    }
    row(
        text,
        "on the wire",
        &format!(
            "{} bytes out, {} in per call; {} and {} segments",
            figure(record.wire_bytes_sent_per_call),
            figure(record.wire_bytes_received_per_call),
            record
                .segments_sent_per_call
                .map_or(NOTHING.to_owned(), |value| format!("{value:.2}")),
            record
                .segments_received_per_call
                .map_or(NOTHING.to_owned(), |value| format!("{value:.2}")),
        ),
    );
}

fn delay(text: &mut String, record: &Record) {
    let Some(requested) = record.delay_requested_ms else {
        return row(text, "delay", "unknown: the server did not report");
    };
    let micros = |us: Option<f64>| us.map_or(NOTHING.to_owned(), |us| format!("{us:.1} µs"));
    let measured = match record.delay_measured_ms_mean {
        Some(measured) => format!(
            ", measured {measured:.3} ms = requested + timer lateness {} + resume lag {}",
            micros(record.timer_lateness_us_mean),
            micros(record.resume_lag_us_mean)
        ),
        None => String::new(),
    };
    row(text, "delay", &format!("requested {requested} ms{measured}"));
}

fn calls(text: &mut String, record: &Record) {
    let calls = &record.calls;
    let mut parts = vec![format!("{} due = {} ok", grouped(calls.due as f64), grouped(calls.ok as f64))];
    parts.push(format!("{} failed", grouped(calls.failed_total() as f64)));
    if calls.unsent > 0 {
        parts.push(format!("{} unsent", grouped(calls.unsent as f64)));
    }
    parts.push(format!("{} in flight at the end", grouped(calls.in_flight as f64)));
    row(text, "calls", &parts.join(" + "));
    if let (Mode::Open, Some(age)) = (record.mode, record.oldest_unanswered_ms) {
        row(
            text,
            "",
            &format!("the oldest call without a reply had been due for {}", time(age * 1e6)),
        );
    }
    for (kind, count) in &calls.failed {
        row(text, "", &format!("{} {kind}", grouped(*count as f64)));
    }
    let server = record.server_calls.map_or("unknown".to_owned(), |calls| grouped(calls as f64));
    row(
        text,
        "",
        &format!(
            "with verification and warm-up: {} made, {server} counted by the server",
            grouped(record.connection_calls as f64)
        ),
    );
    if let Some(callers) = &record.calls_per_caller {
        row(
            text,
            "calls per caller",
            &format!(
                "least {}, most {}, Jain's index {:.3}",
                callers.min, callers.max, callers.jain_index
            ),
        );
    }
    if record.reconnects + record.callers_lost > 0 {
        row(
            text,
            "connections",
            &format!(
                "{} opened again, {} callers lost theirs for good",
                record.reconnects, record.callers_lost
            ),
        );
    }
    for failure in &record.failures {
        row(text, "failure", failure);
    }
}

fn verdict(text: &mut String, record: &Record) {
    let reasons = match record.verdict {
        Verdict::Valid => String::new(),
        _ => format!(": {}", record.verdict_reasons.join("; ")),
    };
    row(text, "verdict", &format!("{}{reasons}", record.verdict));
    row(text, "bound by", &record.bound_by.to_string());
    row(text, "build", &format!("{} profile, {}", record.build.profile, record.build.rustc));
}

fn line(text: &mut String, content: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{content}");
}

fn row(text: &mut String, name: &str, value: &str) {
    line(text, &format!("{name:<17} {value}"));
}
