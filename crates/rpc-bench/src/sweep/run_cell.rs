//! One cell: a fresh server, a fresh client, one record.

use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bench_core::duration;
use bench_core::record::{Record, SCHEMA_VERSION};
use bench_core::server::{ServerInfo, ServerLine};

use super::cell::Cell;
use super::connections::Connections;
use super::pace::Pace;
use crate::child::{Child, Waited};
use crate::interrupt::Interrupt;
use crate::programs::Programs;

/// A server that takes longer to print its ready line has failed.
const READY_LIMIT: Duration = Duration::from_secs(20);
/// Time that a server has to stop after its stdin was closed.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(5);
/// A call without a reply for this long, beyond twice the simulated delay, has failed.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that calls under way at the end of the window have.
const DRAIN: Duration = Duration::from_secs(2);
/// Time beyond all of these that a client has for connecting, verifying and reporting.
const CLIENT_SLACK: Duration = Duration::from_secs(20);

/// How a cell ended.
#[derive(Debug)]
pub enum CellEnd {
    /// With a record, good or bad.
    Ran(Box<Record>),
    /// Without one, and why.
    Failed(String),
    /// Somebody asked to stop.
    Interrupted,
}

/// Runs the cell. Every wait in it is bounded, and both processes are gone when it returns.
pub fn run(cell: &Cell, programs: &Programs, seed: u64, label: &str, interrupt: &Interrupt) -> CellEnd {
    match attempt(cell, programs, seed, label, interrupt) {
        Ok(Some(record)) => CellEnd::Ran(record),
        Ok(None) => CellEnd::Interrupted,
        Err(_) if interrupt.requested() => CellEnd::Interrupted,
        Err(error) => CellEnd::Failed(format!("{error:#}")),
    }
}

fn attempt(cell: &Cell, programs: &Programs, seed: u64, label: &str, interrupt: &Interrupt) -> Result<Option<Box<Record>>> {
    let mut server = Child::spawn(&programs.stack.server, server_command(cell, programs))?;
    let Some(info) = ready(&server, interrupt)? else {
        return Ok(None);
    };
    check_server(&info, cell).with_context(|| format!("the ready line of {}", programs.stack.server))?;
    let client = Child::spawn(&programs.stack.client, client_command(cell, programs, &info, seed, label))?;
    let record = measure(client, cell, interrupt);
    let server_end = server.close_and_wait(STOP_GRACE);
    let (server_name, server_words) = (server.name(), server.final_words());

    match record {
        Ok(Some(mut record)) => {
            let checked = check_identity(&record, cell).and_then(|()| check_pace(&record, cell));
            checked.with_context(|| format!("the record of {}", programs.stack.client))?;
            if let Some(complaint) = complaint_of(server_name, server_end?, &server_words) {
                record.doubt(complaint);
            }
            Ok(Some(record))
        }
        Ok(None) => Ok(None),
        Err(error) if server_words.is_empty() => Err(error),
        Err(error) => Err(error.context(format!("{server_name} said: {server_words}"))),
    }
}

/// The server's first line; `None` when somebody asked to stop.
pub(crate) fn ready(server: &Child, interrupt: &Interrupt) -> Result<Option<ServerInfo>> {
    let name = server.name();
    match server.next_line(READY_LIMIT, interrupt) {
        Waited::Got(line) => match serde_json::from_str(&line) {
            Ok(ServerLine::Ready(info)) => Ok(Some(*info)),
            Ok(ServerLine::Stopped(_)) => bail!("{name} stopped before it was ready"),
            Err(error) => bail!("{name} printed no ready line but '{line}' ({error})"),
        },
        Waited::Closed => bail!("{name} ended before it was ready: {}", server.final_words()),
        Waited::TimedOut => bail!("{name} was not ready within {} s", READY_LIMIT.as_secs()),
        Waited::Interrupted => Ok(None),
    }
}

/// The client's record; `None` when somebody asked to stop.
fn measure(mut client: Child, cell: &Cell, interrupt: &Interrupt) -> Result<Option<Box<Record>>> {
    let name = client.name().to_owned();
    let limit = warmup(cell) + window(cell) + timeout(cell) + DRAIN + CLIENT_SLACK;
    match client.output(limit, interrupt)? {
        Waited::Got((text, status)) if matches!(status.code(), Some(0 | 3)) => serde_json::from_str(&text)
            .map(Some)
            .with_context(|| format!("the record of {name}")),
        Waited::Got((_, status)) => bail!("{name} failed ({}): {}", end_of(status), client.final_words()),
        Waited::Closed | Waited::TimedOut => {
            bail!(
                "{name} did not end within {} s and was killed: {}",
                limit.as_secs(),
                client.last_words()
            )
        }
        Waited::Interrupted => {
            client.terminate(STOP_GRACE);
            Ok(None)
        }
    }
}

/// Refuses a record of something other than what was asked for: it would stand in the wrong row.
pub(crate) fn check_identity(record: &Record, cell: &Cell) -> Result<()> {
    same("schema_version", &record.schema_version.to_string(), &SCHEMA_VERSION.to_string())?;
    same("framework", &record.framework, &cell.framework)?;
    same("wire", &record.wire, &cell.wire)?;
    same("lane", &record.lane.to_string(), &cell.lane.to_string())?;
    same("workload", &record.workload, &cell.workload)
}

fn same(what: &str, got: &str, asked: &str) -> Result<()> {
    if got != asked {
        bail!("it says {what} '{got}', but '{asked}' was asked for");
    }
    Ok(())
}

/// Refuses a record of another pace: of a held client each slice has its own, so that this is apart from [`check_identity`].
fn check_pace(record: &Record, cell: &Cell) -> Result<()> {
    let rate = |rate: Option<f64>| rate.map_or("none".to_owned(), |rate| rate.to_string());
    same("rate_per_s", &rate(record.rate_per_s), &rate(cell.pace.map(Pace::rate_per_s)))?;
    let arrival = cell.pace.map_or("none".to_owned(), |pace| pace.arrival.to_string());
    same("arrival", record.arrival.as_deref().unwrap_or("none"), &arrival)
}

/// Refuses a server that runs otherwise than it was told to, for the same reason.
fn check_server(info: &ServerInfo, cell: &Cell) -> Result<()> {
    same("yields", &info.yields.to_string(), &cell.yields.to_string())?;
    let default = || info.runtime.clone();
    same(
        "runtime",
        &info.runtime,
        &cell.server_runtime.map_or_else(default, |kind| kind.to_string()),
    )
}

/// What is wrong with how the server ended; `None` when nothing is.
fn complaint_of(name: &str, end: Option<ExitStatus>, words: &str) -> Option<String> {
    match end {
        Some(status) if status.success() => None,
        Some(status) => Some(format!("{name} ended badly ({}): {words}", end_of(status))),
        None => Some(format!(
            "{name} did not stop within {} s of its stdin's end and was killed",
            STOP_GRACE.as_secs()
        )),
    }
}

fn end_of(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Starts a server for the cell on free ports.
pub(crate) fn server_command(cell: &Cell, programs: &Programs) -> Command {
    let mut command = Command::new(&programs.server);
    command
        .args(["--addr", "127.0.0.1:0", "--stats", "127.0.0.1:0"])
        .args(["--delay", &duration::format(Duration::from_micros(cell.delay_us))])
        .args(["--wire", &cell.wire, "--lane", &cell.lane.to_string()])
        .args(["--output", "json", "--exit-on-stdin-close"]);
    if let Some(threads) = cell.server_threads {
        command.args(["--threads", &threads.to_string()]);
    }
    if let Some(runtime) = cell.server_runtime {
        command.args(["--runtime", &runtime.to_string()]);
    }
    if cell.yields {
        command.arg("--yield");
    }
    command
}

/// Starts a client for the cell, which ends by itself.
pub(crate) fn client_command(cell: &Cell, programs: &Programs, server: &ServerInfo, seed: u64, label: &str) -> Command {
    let mut command = any_client_command(cell, programs, server, seed, label);
    command.args(["-d", &duration::format(window(cell))]);
    if let Some(calls) = cell.calls {
        command.args(["-n", &calls.to_string()]);
    }
    command
}

/// Starts a client for the cell that stays connected and measures a slice for each line on its stdin.
pub(crate) fn held_client_command(cell: &Cell, programs: &Programs, server: &ServerInfo, seed: u64) -> Command {
    let mut command = any_client_command(cell, programs, server, seed, "trial");
    command.arg("--hold");
    command
}

/// The longest that a slice of a held client takes, when all goes well.
pub(crate) fn longest_slice(cell: &Cell, slice: Duration) -> Duration {
    warmup(cell) + slice + timeout(cell) + DRAIN
}

/// What a client is told however its window is bounded.
fn any_client_command(cell: &Cell, programs: &Programs, server: &ServerInfo, seed: u64, label: &str) -> Command {
    let mut command = Command::new(&programs.client);
    command
        .args(["--addr", &server.addr, "--stats", server.stats.as_deref().unwrap_or("none")])
        .args(["--wire", &cell.wire, "--lane", &cell.lane.to_string(), "--workload", &cell.workload])
        .args(["-c", &cell.callers.to_string()])
        .args([
            "--warmup",
            &duration::format(warmup(cell)),
            "--timeout",
            &duration::format(timeout(cell)),
        ])
        .args(["--drain", &duration::format(DRAIN), "--seed", &seed.to_string(), "--label", label])
        .args(["--output", "json", "--progress", "never"]);
    if let Connections::Shared(number) = cell.connections {
        command.args(["--pool", &number.to_string()]);
    }
    if let Some(bytes) = cell.payload_bytes {
        command.args(["--payload", &bytes.to_string()]);
    }
    if let Some(pace) = cell.pace {
        command.args(["-r", &pace.rate_per_s().to_string(), "--arrival", &pace.arrival.to_string()]);
    }
    if let Some(threads) = cell.client_threads {
        command.args(["--threads", &threads.to_string()]);
    }
    command
}

fn window(cell: &Cell) -> Duration {
    Duration::from_millis(cell.measure_ms)
}

fn warmup(cell: &Cell) -> Duration {
    Duration::from_millis(cell.warmup_ms)
}

fn timeout(cell: &Cell) -> Duration {
    CALL_TIMEOUT + 2 * Duration::from_micros(cell.delay_us)
}

#[cfg(test)]
mod tests {
    use bench_core::arrival::Arrival;
    use bench_core::runtime::RuntimeKind;

    use super::super::failed::tests::{example_cell, example_record};
    use super::*;
    use crate::discovery::Stack;

    fn programs() -> Programs {
        Programs {
            stack: Stack {
                framework: "tcp".to_owned(),
                library: "tokio".to_owned(),
                library_version: None,
                server: "tcp-server".to_owned(),
                client: "tcp-client".to_owned(),
            },
            server: "tcp-server".into(),
            client: "tcp-client".into(),
        }
    }

    fn info() -> ServerInfo {
        serde_json::from_value(serde_json::json!({
            "addr": "127.0.0.1:1", "stats": null, "instance": "0", "framework": "tcp", "library": "tokio", "library_version": "0",
            "wires": [], "lane": "default", "delay_requested_ms": 0.0, "timer_lateness_idle_us_mean": null, "yields": false,
            "runtime_threads": 1, "runtime": "current-thread", "cpus": null, "build": example_record().record.build, "settings": {}
        }))
        .unwrap()
    }

    fn words(command: &Command) -> String {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn both_sides_are_told_what_the_cell_asks_for_and_nothing_else() {
        let check = |cell: &Cell, server: &[&str], client: &[&str]| {
            let all = [
                (words(&server_command(cell, &programs())), server, ["--runtime", "--yield"]),
                (
                    words(&client_command(cell, &programs(), &info(), 1, "local")),
                    client,
                    ["-r ", "--arrival"],
                ),
            ];
            for (words, expected, flags) in all {
                assert!(expected.iter().all(|part| words.contains(part)), "{expected:?}: {words}");
                let none = expected.is_empty();
                assert!(!none || flags.iter().all(|flag| !words.contains(flag)), "{words}");
            }
        };
        check(&example_cell(), &[], &[]);
        let cell = Cell {
            yields: true,
            server_runtime: Some(RuntimeKind::Multi),
            pace: Some(Pace::new(0.5, Arrival::Poisson)),
            ..example_cell()
        };
        check(&cell, &["--runtime multi", "--yield"], &["-r 0.5 --arrival poisson"]);
    }

    #[test]
    fn a_record_or_a_server_of_something_else_is_refused() {
        let asked = Pace::new(2000.0, Arrival::Poisson);
        let cell = |pace, yields, server_runtime| Cell {
            pace,
            yields,
            server_runtime,
            ..example_cell()
        };
        let check = |error: Result<()>, parts: &[&str]| {
            let error = format!("{:#}", error.unwrap_err());
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        };
        let closed = example_record().record;
        let mut open = closed.clone();
        (open.rate_per_s, open.arrival) = (Some(2000.0), Some("poisson".to_owned()));
        check_pace(&closed, &example_cell()).unwrap();
        check_pace(&open, &cell(Some(asked), false, None)).unwrap();
        check(
            check_pace(&closed, &cell(Some(asked), false, None)),
            &["rate_per_s 'none'", "'2000' was asked for"],
        );
        check(check_pace(&open, &example_cell()), &["rate_per_s '2000'", "'none' was asked for"]);
        let constant = Pace::new(2000.0, Arrival::Constant);
        check(
            check_pace(&open, &cell(Some(constant), false, None)),
            &["arrival 'poisson'", "'constant' was asked for"],
        );

        check_server(&info(), &cell(None, false, None)).unwrap();
        check_server(&info(), &cell(None, false, Some(RuntimeKind::CurrentThread))).unwrap();
        check(
            check_server(&info(), &cell(None, true, None)),
            &["yields 'false'", "'true' was asked for"],
        );
        check(
            check_server(&info(), &cell(None, false, Some(RuntimeKind::Multi))),
            &["runtime 'current-thread'", "'multi' was asked for"],
        );
    }
}
