//! A workspace with a fake stack, and `rpc-bench` run on it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bench_core::build_info::BuildInfo;
use bench_core::failure::FailureKind;
use bench_core::histogram::Times;
use bench_core::lane::Lane;
use bench_core::record::{Calls, Record};
use bench_core::server::{ServerInfo, ServerLine};
use bench_host::HostInfo;
use rpc_bench::discovery::Stack;
use rpc_bench::sweep::cell::Cell;
use rpc_bench::sweep::connections::Connections;
use rpc_bench::sweep::failed::{Surroundings, record_of_failure};
use serde_json::json;

/// Wires of the fake stack; the first is the flagship, each other one breaks the contract as its name says.
pub const WIRES: [&str; 8] = [
    "good/x",
    "server-dies/x",
    "server-babbles/x",
    "server-crashes/x",
    "client-refuses/x",
    "client-mistakes/x",
    "client-fails/x",
    "client-stays/x",
];

/// Writes the workspace, once for all tests, and says where its Cargo.toml is.
pub fn fake_workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-workspace");
    let shares = |wire: &str| wire == "good/x";
    let entries: Vec<_> = (WIRES.iter().enumerate())
        .map(|(i, wire)| json!({"wire": wire, "workload": "echo", "shares": shares(wire), "flagship": i == 0}))
        .collect();
    let client_list = json!({"framework": "fake", "library": "none", "entries": entries});
    let server_list = json!({"framework": "fake", "library": "none", "wires": WIRES});
    let ready = ServerLine::Ready(Box::new(server_info()));
    let stopped = ServerLine::Stopped(Box::default());

    write(
        &root.join("Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"fake-server\", \"fake-client\"]\n",
    );
    for (role, source) in [
        ("server", include_str!("../fake/server.rs")),
        ("client", include_str!("../fake/client.rs")),
    ] {
        let folder = root.join(format!("fake-{role}"));
        write(&folder.join("Cargo.toml"), &manifest("fake", role));
        write(&folder.join("src/main.rs"), source);
    }
    write(&root.join("client-list.json"), &client_list.to_string());
    write(&root.join("server-list.json"), &server_list.to_string());
    write(&root.join("ready.json"), &serde_json::to_string(&ready).unwrap());
    write(&root.join("stopped.json"), &serde_json::to_string(&stopped).unwrap());
    write(&root.join("record.json"), &serde_json::to_string(&good_record()).unwrap());
    write(&root.join("held.json"), &serde_json::to_string(&held_record()).unwrap());
    write(&root.join("failed.json"), &serde_json::to_string(&failed_record()).unwrap());
    root.join("Cargo.toml")
}

/// Cargo.toml of one half of a stack.
pub fn manifest(framework: &str, role: &str) -> String {
    format!(
        "[package]\nname = \"{framework}-{role}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [package.metadata.bench]\nframework = \"{framework}\"\nrole = \"{role}\"\nlibrary = \"none\"\n"
    )
}

/// `rpc-bench` on the fake workspace, which it builds into a target folder of its own.
pub fn rpc_bench(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rpc-bench"));
    command
        .arg("--manifest-path")
        .arg(fake_workspace())
        .args(args)
        .env_remove("FAKE_LIFELINE");
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-target"));
    command
}

/// Writes a file unless it is already so: tests run at once, and cargo builds what is newer.
pub fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let mut temporary = tempfile::NamedTempFile::new_in(folder).unwrap();
    temporary.write_all(text.as_bytes()).unwrap();
    temporary.persist(path).unwrap();
}

/// A sweep file in a folder of its own, and a folder for results beside it.
pub struct SweepFolder {
    pub temporary: tempfile::TempDir,
}

impl SweepFolder {
    pub fn new(sweep: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        std::fs::write(temporary.path().join("test.toml"), sweep).unwrap();
        Self { temporary }
    }

    /// `rpc-bench sweep` on its file, with more options.
    /// The fake stack answers no call, so its checks fail.
    pub fn sweep(&self, options: &[&str]) -> Command {
        self.sweep_with_checks(&[options, &["--skip-checks"]].concat())
    }

    pub fn sweep_with_checks(&self, options: &[&str]) -> Command {
        let file = self.temporary.path().join("test.toml");
        let mut command = rpc_bench(&["sweep", file.to_str().unwrap(), "--profile", "dev"]);
        command.arg("--out").arg(self.temporary.path().join("out")).args(options);
        command
    }

    /// The only folder of results.
    pub fn results(&self) -> PathBuf {
        let mut folders: Vec<_> = std::fs::read_dir(self.temporary.path().join("out"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders.remove(0)
    }

    pub fn records(&self) -> Vec<rpc_bench::records::SweepRecord> {
        rpc_bench::records::read(&self.results().join("records.jsonl")).unwrap()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn server_info() -> ServerInfo {
    ServerInfo {
        addr: "127.0.0.1:1".to_owned(),
        stats: None,
        instance: "0".to_owned(),
        framework: "fake".to_owned(),
        library: "none".to_owned(),
        library_version: "0".to_owned(),
        wires: WIRES.map(str::to_owned).to_vec(),
        lane: Lane::Default,
        delay_requested_ms: 0.0,
        timer_lateness_idle_us_mean: None,
        yields: false,
        runtime_threads: 1,
        runtime: "current-thread".to_owned(),
        cpus: None,
        build: BuildInfo::current("none"),
        settings: BTreeMap::new(),
    }
}

/// A good record with placeholders for what the client was asked.
fn good_record() -> Record {
    let mut times = Times::new();
    (1..=100).for_each(|us| times.record(us * 1000));
    let cell = Cell {
        framework: "fake".to_owned(),
        wire: "WIRE".to_owned(),
        lane: Lane::Default,
        workload: "echo".to_owned(),
        payload_bytes: None,
        delay_us: 0,
        callers: 111_111,
        connections: Connections::Shared(222_222),
        server_threads: None,
        client_threads: None,
        measure_ms: 1000,
        calls: None,
        warmup_ms: 0,
        yields: false,
        server_runtime: None,
        pace: None,
    };
    let stack = Stack {
        framework: "fake".to_owned(),
        library: "none".to_owned(),
        library_version: None,
        server: String::new(),
        client: String::new(),
    };
    let around = Surroundings {
        host: HostInfo::read().unwrap(),
        label: "local".to_owned(),
        seed: 1,
    };
    let mut record = record_of_failure(&cell, &stack, 0, &around, "").record;
    (record.error, record.failures, record.round) = (None, Vec::new(), None);
    // The same at every run, or the fake client would be built again under other tests.
    record.started_at = "2026-12-01T00:00:00Z".to_owned();
    record.calls = Calls {
        due: 100,
        ok: 100,
        ..Calls::default()
    };
    record.connection_calls = 100;
    record.connection_calls_ok = 100;
    record.elapsed_s = 1.0;
    record.throughput_per_s = Some(100.0);
    record.service_time_ns = times.summary();
    record.audit();
    record
}

/// A slice whose calls were answered within 100 µs of when they were due.
fn held_record() -> Record {
    let mut record = good_record();
    record.response_time_ns = record.service_time_ns.clone();
    record
}

fn failed_record() -> Record {
    let mut record = good_record();
    record.calls = Calls {
        due: 101,
        ok: 100,
        failed: [(FailureKind::Timeout, 1)].into(),
        ..Calls::default()
    };
    record.audit();
    record
}
