//! The command line of every server.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::process::ExitCode;
use std::time::Duration;

use bench_core::duration;
use bench_core::lane::Lane;
use bench_core::runtime::RuntimeKind;
use bench_host::CpuSet;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};

use crate::registry::Registry;

/// Port of every framework, as in the rpcx suite, so that two plain `cargo run` commands meet.
const DEFAULT_ADDR: &str = "127.0.0.1:8972";
/// More threads than any machine of today has; a typing error above it.
const MOST_THREADS: u64 = 1024;

pub(crate) enum Command {
    List(Output),
    Serve(Box<ServeFlags>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    serve: ServeFlags,

    /// Prints the wires and ends; the first is the default
    #[arg(long)]
    list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeFlags {
    /// Address to listen on; port 0 takes a free one; [::1]:8972 for IPv6
    #[arg(short = 's', long, value_name = "HOST:PORT", default_value = DEFAULT_ADDR, value_parser = addresses)]
    pub addr: Addresses,

    /// Address of the stats endpoint [default: same host, next port; any port when --addr has port 0]
    #[arg(long, value_name = "HOST:PORT", value_parser = addresses, conflicts_with = "no_stats")]
    pub stats: Option<Addresses>,

    /// No stats endpoint: records of clients will lack the server's half
    #[arg(long)]
    pub no_stats: bool,

    /// Simulated delay of every call: 0, 10 or 30 (milliseconds), or any duration such as 2500us
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = delay)]
    pub delay: Duration,

    /// Transport and codec, as --list names them [default: the first of them]
    #[arg(long)]
    pub wire: Option<String>,

    /// default: as the library's documentation shows; tuned: reviewed settings (see the crate's README)
    #[arg(long, value_name = "default|tuned", default_value_t)]
    pub lane: Lane,

    /// Runtime threads, except for a library that blocks [default: one per CPU of --cpus]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_THREADS))]
    pub threads: Option<u64>,

    /// One single-threaded runtime per thread, or one runtime for all threads, except for a library that blocks [default: current-thread]
    #[arg(long, value_name = "current-thread|multi")]
    pub runtime: Option<RuntimeKind>,

    /// CPUs of the runtime threads: a list such as 0-3,5, or all [default: on a loopback address half of the physical cores, else, and for a library that blocks, all]
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuSet>,

    /// Handlers yield once to the scheduler before they work
    #[arg(long = "yield")]
    pub yields: bool,

    /// Each call keeps its thread busy for so long: work for the handler, or a slow-down of known size
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = work)]
    pub work: Duration,

    /// What goes to stdout: lines for people, or a ready line and a last line in JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,

    /// Stops when stdin is closed, for programs that start this one
    #[arg(long)]
    pub exit_on_stdin_close: bool,
}

/// All addresses that a name stands for.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    pub text: String,
    pub all: Vec<SocketAddr>,
}

fn addresses(text: &str) -> Result<Addresses, String> {
    if !text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    {
        return Err("expected HOST:PORT, for example 127.0.0.1:8972 or [::1]:8972".to_owned());
    }
    let all: Vec<SocketAddr> = text
        .to_socket_addrs()
        .map_err(|error| format!("the name does not resolve: {error}"))?
        .collect();
    Ok(Addresses {
        text: text.to_owned(),
        all,
    })
}

fn delay(text: &str) -> Result<Duration, String> {
    duration::parse(text, "ms")
}

fn work(text: &str) -> Result<Duration, String> {
    duration::parse(text, "us")
}

/// Reads the command line. Help, usage errors and their exit code are clap's; a server's own check follows.
pub(crate) fn parse(registry: &Registry) -> Result<Command, ExitCode> {
    let name = format!("{}-server", registry.framework);
    let mut command = Cli::command()
        .about(format!(
            "Serves the rpc-bench services with {} {}.",
            registry.library,
            registry.library_version()
        ))
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(examples(&name))
        .name(name);
    let parsed = command
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .and_then(|cli| check(cli, registry, &mut command));
    parsed.map_err(|error| {
        // Where even stderr is closed there is nobody left to tell.
        let _ = error.print();
        ExitCode::from(if error.use_stderr() { 2 } else { 0 })
    })
}

fn check(cli: Cli, registry: &Registry, command: &mut clap::Command) -> Result<Command, clap::Error> {
    let mut usage = |text: String| Err(command.error(clap::error::ErrorKind::ValueValidation, text));
    if cli.list {
        return Ok(Command::List(cli.serve.output));
    }
    if let Some(wire) = &cli.serve.wire
        && registry.entry(wire).is_none()
    {
        let wires: Vec<String> = registry.wires().map(|wire| wire.to_string()).collect();
        return usage(format!("invalid value '{wire}' for '--wire': this server has {}", wires.join(", ")));
    }
    let entry = match &cli.serve.wire {
        Some(wire) => registry.entry(wire),
        None => registry.entries.first().copied(),
    };
    if entry.is_some_and(|entry| entry.blocking) {
        let refused = [
            ("--threads", cli.serve.threads.is_some()),
            ("--runtime", cli.serve.runtime.is_some()),
        ];
        if let Some((flag, _)) = refused.into_iter().find(|(_, given)| *given) {
            return usage(format!(
                "'{flag}': the library blocks, so each connection has a thread of its own; leave {flag} out"
            ));
        }
    }
    if let Some(cpus) = &cli.serve.cpus
        && let Err(error) = CpuSet::allowed().and_then(|allowed| cpus.check_within(&allowed))
    {
        return usage(format!("invalid value '{cpus}' for '--cpus': {error}"));
    }
    Ok(Command::Serve(Box::new(cli.serve)))
}

fn examples(name: &str) -> String {
    format!(
        "Examples:
  {name}                              listens on 127.0.0.1:8972, stats on 8973
  {name} --delay 10                   every call takes 10 ms
  {name} -s [::1]:0 --output json     any free IPv6 port; the ready line says which
  {name} -s 0.0.0.0:8972 --threads 4  for clients on other machines

Exit codes: 0 stopped when told to, 1 could not run, 2 usage."
    )
}
