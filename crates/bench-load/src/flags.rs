//! The command line of every client.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bench_core::arrival::Arrival;
use bench_core::duration;
use bench_core::lane::Lane;
use bench_core::message::REQUEST_BYTES;
use bench_core::wire::Wire;
use bench_host::CpuSet;
use clap::error::ErrorKind;
use clap::{ArgGroup, Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};

use crate::open::{Pace, PacerKind};
use crate::registry::{Entry, Registry};
use crate::target;

/// As every server's default.
const DEFAULT_ADDR: &str = "127.0.0.1:8972";
/// Length of a run with neither `-n` nor `-d`.
pub(crate) const DEFAULT_DURATION: Duration = Duration::from_secs(10);
/// More callers than one machine's ports and files allow; a typing error above it.
const MOST_CALLERS: u64 = 1_000_000;
const MOST_CALLS: u64 = 1_000_000_000_000;
const MOST_THREADS: u64 = 1024;
/// Calls per second: more than any machine makes; a typing error above it.
pub(crate) const MOST_RATE: f64 = 1e9;
/// Chosen from the curve of lag against CPU in METHODOLOGY.md, "The open loop".
const DEFAULT_COALESCE: Duration = Duration::from_micros(200);
/// Largest payload: 128 MiB, beyond what any stack takes, so that its refusal can be looked at.
const MOST_PAYLOAD: u64 = 128 * 1024 * 1024;

pub(crate) enum Command {
    List(Output),
    Measure(Box<MeasureFlags>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowProgress {
    /// A line on stderr when that is a terminal.
    Auto,
    /// Nothing.
    Never,
}

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    measure: MeasureFlags,

    /// Prints the wires and workloads and ends; the first is the default
    #[arg(long)]
    list: bool,
}

// A held client is told its rates slice by slice.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("paced").args(["rate", "hold"]).multiple(true)))]
pub(crate) struct MeasureFlags {
    /// The server; every address of a name is tried
    #[arg(short = 's', long, value_name = "HOST:PORT", default_value = DEFAULT_ADDR)]
    pub addr: String,

    /// The server's stats endpoint, or none [default: same host, next port]
    #[arg(long, value_name = "HOST:PORT|none")]
    pub stats: Option<String>,

    /// Callers: each makes its next call when the last one has answered
    #[arg(short = 'c', long = "concurrency", value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=MOST_CALLERS))]
    pub concurrency: u64,

    /// Calls in all, split among the callers; with -d as well, whichever comes first ends the run
    #[arg(short = 'n', long = "calls", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_CALLS))]
    pub calls: Option<u64>,

    /// Length of the measured window (a number alone is in seconds) [default: 10s without -n]
    #[arg(short = 'd', long, value_name = "DURATION", value_parser = window)]
    pub duration: Option<Duration>,

    /// Open loop: calls per second in all, made when they are due, whether or not earlier ones were answered; -c is the most under way
    #[arg(short = 'r', long, value_name = "RATE", value_parser = rate)]
    pub rate: Option<f64>,

    /// Spacing of the calls of an open loop: all alike, or as of many users who know nothing of each other [default: constant]
    #[arg(long, value_name = "constant|poisson", requires = "paced")]
    pub arrival: Option<Arrival>,

    /// How to wait for the next call of an open loop: spin needs CPUs that the server does not use [default: timer]
    #[arg(long, value_enum, requires = "paced")]
    pub pacer: Option<PacerKind>,

    /// The pacer's timer wakes the thread at most once in this time: less CPU for later calls; 0 for a wake-up at every instant that a call is due [default: 200us]
    #[arg(long, value_name = "DURATION", requires = "paced", value_parser = coalesce)]
    pub coalesce: Option<Duration>,

    /// Connections that the callers share [default: one connection per caller]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u64).range(1..=MOST_CALLERS))]
    pub pool: Option<u64>,

    /// Transport and codec, as --list names them [default: the first that has the workload]
    #[arg(long)]
    pub wire: Option<String>,

    /// default: as the library's documentation shows; tuned: reviewed settings; must be the server's
    #[arg(long, value_name = "default|tuned", default_value_t)]
    pub lane: Lane,

    /// What to call, as --list names it [default: the first that the wire has]
    #[arg(long)]
    pub workload: Option<String>,

    /// Size of a payload, for --workload payload: 0 to 128m (k and m are 1024 and 1024²); each stack has a limit of its own [default: 581]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub payload: Option<usize>,

    /// Time for warming up all connections before the window opens
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = seconds)]
    pub warmup: Duration,

    /// Longest that a call or a connect may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = positive)]
    pub timeout: Duration,

    /// Longest to wait, after the window, for calls that are under way
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = seconds)]
    pub drain: Duration,

    /// Client threads, except for a library that blocks [default: one per CPU of --cpus, never more than connections]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_THREADS))]
    pub threads: Option<u64>,

    /// CPUs of the client threads: a list such as 0-3,5, or all [default: for a server on a loopback address the half of the physical cores that servers leave, else, and for a library that blocks, all]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuSet>,

    /// What goes to stdout: a summary for people, or the record as one JSON object
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,

    /// Writes the record to this file as well
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Your word for this machine, for the record: a to z, 0 to 9 and -
    #[arg(long, value_name = "WORD", default_value = "local", value_parser = label)]
    pub label: String,

    /// Stays connected and measures one slice for each line {"slice_ms": 200} on stdin, answering each with a record
    #[arg(long, conflicts_with_all = ["calls", "duration", "record"])]
    pub hold: bool,

    /// Live progress on stderr
    #[arg(long, value_enum, default_value_t = ShowProgress::Auto)]
    pub progress: ShowProgress,
}

/// Reads the command line. Help, usage errors and their exit code are clap's; the checks that need several flags follow.
pub(crate) fn parse(registry: &Registry) -> Result<Command, ExitCode> {
    let name = format!("{}-client", registry.framework);
    let mut command = Cli::command()
        .about(format!(
            "Measures {} {} against its server.",
            registry.library,
            registry.library_version()
        ))
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(examples(&name))
        .name(name);
    let parsed = command
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .and_then(|cli| match cli.list {
            true => Ok(Command::List(cli.measure.output)),
            false => check(&cli.measure, registry)
                .map(|()| Command::Measure(Box::new(cli.measure)))
                .map_err(|text| command.error(ErrorKind::ValueValidation, text)),
        });
    parsed.map_err(|error| {
        // Where even stderr is closed there is nobody left to tell.
        let _ = error.print();
        ExitCode::from(if error.use_stderr() { 2 } else { 0 })
    })
}

fn check(flags: &MeasureFlags, registry: &Registry) -> Result<(), String> {
    let entry = flags.entry(registry)?;
    if let Some(pool) = flags.pool {
        if !entry.shares {
            return Err(format!(
                "'--pool': over {} a connection carries one call at a time, so callers cannot share it; leave --pool out",
                entry.wire
            ));
        }
        if pool > flags.callers() {
            return Err(format!("'--pool {pool}': more connections than the {} callers", flags.callers()));
        }
    }
    if flags.payload.is_some() && !entry.sized {
        return Err(format!(
            "'--payload': messages of the workload '{}' have a size of their own; add --workload payload, or leave --payload out",
            entry.workload
        ));
    }
    if flags.threads.is_some() && entry.blocking {
        return Err(format!(
            "'--threads': over {} a call blocks its thread, so each connection has one of its own; leave --threads out, -c is their number",
            entry.wire
        ));
    }
    if flags.pacer == Some(PacerKind::Spin) && entry.blocking {
        return Err(format!(
            "'--pacer spin': over {} each connection has a thread of its own, which sleeps until its call is due; leave --pacer out",
            entry.wire
        ));
    }
    if flags.coalesce.is_some() && (entry.blocking || flags.pacer == Some(PacerKind::Spin)) {
        return Err(
            "'--coalesce': there is no timer to coalesce where the pacer spins, or each connection has a thread of its own".to_owned(),
        );
    }
    if let Some(cpus) = &flags.cpus {
        CpuSet::allowed()
            .and_then(|allowed| cpus.check_within(&allowed))
            .map_err(|error| format!("invalid value '{cpus}' for '--cpus': {error}"))?;
    }
    for (flag, text) in [("--addr", Some(flags.addr.as_str())), ("--stats", flags.stats.as_deref())] {
        let text = text.filter(|text| flag == "--addr" || *text != "none");
        if let Some(text) = text
            && let Err(reason) = target::check_form(text)
        {
            return Err(format!("invalid value '{text}' for '{flag}': {reason}"));
        }
    }
    Ok(())
}

impl MeasureFlags {
    /// The entry that `--wire` and `--workload` name.
    pub fn entry(&self, registry: &Registry) -> Result<Entry, String> {
        let fits = |entry: &&Entry| {
            self.wire.as_ref().is_none_or(|wire| *wire == entry.wire.to_string())
                && self.workload.as_ref().is_none_or(|workload| workload == entry.workload)
        };
        registry.entries.iter().find(fits).copied().ok_or_else(|| {
            let mut offered: Vec<(Wire, Vec<&str>)> = Vec::new();
            for entry in &registry.entries {
                match offered.iter_mut().find(|(wire, _)| *wire == entry.wire) {
                    Some((_, workloads)) => workloads.push(entry.workload),
                    None => offered.push((entry.wire, vec![entry.workload])),
                }
            }
            let offered: Vec<String> = offered
                .into_iter()
                .map(|(wire, workloads)| format!("{wire} with {}", workloads.join(" or ")))
                .collect();
            format!(
                "this client has no such '--wire' and '--workload' together; it has: {}",
                offered.join("; ")
            )
        })
    }

    /// Callers that there is work for: `-n 3` needs no more than three.
    pub fn callers(&self) -> u64 {
        self.concurrency.min(self.calls.unwrap_or(u64::MAX))
    }

    /// An open loop of this rate, as the flags have it.
    pub fn pace_of(&self, rate_per_s: f64) -> Pace {
        Pace {
            rate_per_s,
            arrival: self.arrival.unwrap_or_default(),
            pacer: self.pacer.unwrap_or(PacerKind::Timer),
            coalesce: self.coalesce.unwrap_or(DEFAULT_COALESCE),
            seed: self.seed,
        }
    }

    pub fn connections(&self) -> u64 {
        self.pool.unwrap_or_else(|| self.callers())
    }

    /// Bytes of a payload: without a word as many as the benchmark message has.
    pub fn payload_bytes(&self) -> usize {
        self.payload.unwrap_or(REQUEST_BYTES)
    }

    /// Length of the window; `None` for a counted run without a limit in time.
    pub fn window(&self) -> Option<Duration> {
        match (self.calls, self.duration) {
            (None, None) => Some(DEFAULT_DURATION),
            (_, duration) => duration,
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    duration::parse(text, "s")
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| *rate > 0.0 && *rate <= MOST_RATE);
    rate.ok_or_else(|| format!("expected calls per second above 0, at most {MOST_RATE}, for example 1000 or 0.5"))
}

fn coalesce(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_millis(10);
    match duration::parse(text, "us")? {
        duration if duration > LONGEST => Err("at most 10ms".to_owned()),
        duration => Ok(duration),
    }
}

fn positive(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        Duration::ZERO => Err("must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

fn window(text: &str) -> Result<Duration, String> {
    const SHORTEST: Duration = Duration::from_millis(1);
    match seconds(text)? {
        duration if duration < SHORTEST => Err("the shortest window is 1ms".to_owned()),
        duration => Ok(duration),
    }
}

fn size(text: &str) -> Result<usize, String> {
    let form = || format!("expected bytes from 0 to {MOST_PAYLOAD}, for example 581, 64k or 1m");
    let lower = text.to_ascii_lowercase();
    let (number, unit) = match lower.strip_suffix('k') {
        Some(number) => (number, 1024),
        None => match lower.strip_suffix('m') {
            Some(number) => (number, 1024 * 1024),
            None => (lower.as_str(), 1),
        },
    };
    let bytes = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(form)?;
    usize::try_from(bytes).ok().filter(|_| bytes <= MOST_PAYLOAD).ok_or_else(form)
}

fn label(text: &str) -> Result<String, String> {
    let fits = (1..=32).contains(&text.len()) && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    fits.then(|| text.to_owned())
        .ok_or_else(|| "1 to 32 of a to z, 0 to 9 and -".to_owned())
}

fn examples(name: &str) -> String {
    format!(
        "Examples:
  {name} -c 500                       500 callers, each on its own connection, for 10 s
  {name} -c 500 -n 1000000            one million calls
  {name} -c 100 -d 30s --warmup 5s    30 s after 5 s of warm-up
  {name} -r 5000                      an open loop: 5,000 calls a second, late or not
  {name} -s bench2:8972 --output json a server on another machine; the record on stdout

Exit codes: 0 good; 1 could not run; 2 usage; 3 ran, but calls failed or a check failed; 130 interrupted."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_labels_are_read_or_refused() {
        assert_eq!(size("64k"), Ok(65_536));
        assert_eq!(size("4m"), Ok(4_194_304));
        assert_eq!(size("128m"), Ok(134_217_728));
        assert_eq!(size("0"), Ok(0));
        for text in ["", "k", "-1", "131073k", "1e3", "1.5k", "99999999999999999999m"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(label("my-laptop-2").is_ok());
        for text in ["", "My Laptop", "a/b", &"x".repeat(33)] {
            assert!(label(text).is_err(), "{text}");
        }
    }
}
