//! What a server prints.

use bench_core::server::{ServerCounters, ServerInfo};
use bench_core::units::{grouped, memory};

use crate::registry::Registry;

pub(crate) fn list(registry: &Registry) -> String {
    let wires: Vec<String> = registry.wires().map(|wire| wire.to_string()).collect();
    wires.join("\n")
}

pub(crate) fn list_json(registry: &Registry) -> String {
    serde_json::json!({
        "framework": registry.framework,
        "library": registry.library,
        "library_version": registry.library_version(),
        "wires": registry.wires().map(|wire| wire.to_string()).collect::<Vec<_>>(),
    })
    .to_string()
}

pub(crate) fn ready(info: &ServerInfo) -> String {
    let stats = match &info.stats {
        Some(stats) => format!("stats on http://{stats}/stats"),
        None => "no stats endpoint".to_owned(),
    };
    let cpus = match &info.cpus {
        Some(cpus) => format!(" on CPU {}", cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")),
        None => String::new(),
    };
    let mut text = format!(
        "{}-server ({} {}) listens on {}, {stats}\n{}, {} lane, delay {} ms, {} runtime, {} thread{}{cpus}; Ctrl-C stops it",
        info.framework,
        info.library,
        info.library_version,
        info.addr,
        info.wires.join(", "),
        info.lane,
        info.delay_requested_ms,
        info.runtime,
        info.runtime_threads,
        if info.runtime_threads == 1 { "" } else { "s" },
    );
    if !info.build.optimised {
        text += "\nwarning: this build is not optimised; its rows will be marked";
    }
    text
}

pub(crate) fn stopped(counters: &ServerCounters) -> String {
    let mut text = format!(
        "served {} calls on {} connections; CPU {:.2} s user, {:.2} s system; peak memory {}",
        grouped(counters.calls as f64),
        counters.connections_accepted,
        counters.cpu_user_s,
        counters.cpu_sys_s,
        memory(counters.peak_rss_bytes),
    );
    if let Some(delay) = &counters.delay
        && delay.count > 0
    {
        let mean_us = |sum: u64| sum as f64 / delay.count as f64 / 1e3;
        text += &format!(
            "\ndelay measured {:.3} ms, of it timer lateness {:.1} µs and resume lag {:.1} µs",
            mean_us(delay.slept_ns_sum) / 1e3,
            mean_us(delay.lateness_ns_sum),
            mean_us(delay.resume_lag_ns_sum),
        );
    }
    if counters.connection_failures > 0 {
        text += &format!("\n{} connections ended in an error", counters.connection_failures);
    }
    text
}
