//! A child process whose words are collected and whose end is bounded.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bench_core::record::Record;
use rustix::process::{Pid, Signal, kill_process};

use super::{LONG, binary, schema};

/// A running binary. Dropping it kills it.
pub struct Process {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    said: Arc<Mutex<String>>,
    stderr: Option<JoinHandle<()>>,
    started: Instant,
}

/// What came out of a process.
#[derive(Debug)]
pub struct Outcome {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// From the start to the end.
    pub took: Duration,
}

impl Process {
    pub fn start(package: &str, args: &[&str]) -> Self {
        let mut command = Command::new(binary(package));
        command.args(args);
        Self::spawn(package, command)
    }

    pub fn spawn(name: &str, mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        let stderr = child.stderr.take().unwrap();
        let said: Arc<Mutex<String>> = Arc::default();
        let saying = said.clone();
        Self {
            stdout: child.stdout.take().map(BufReader::new),
            said,
            stderr: Some(std::thread::spawn(move || {
                for line in BufReader::new(stderr).lines() {
                    let mut said = saying.lock().unwrap();
                    said.push_str(&line.unwrap());
                    said.push('\n');
                }
            })),
            child,
            started: Instant::now(),
        }
    }

    /// Whether it has said this on stderr by now.
    pub fn has_said(&self, part: &str) -> bool {
        self.said.lock().unwrap().contains(part)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// True once it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The next line of stdout; `None` at its end.
    pub fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    pub fn write_line(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    /// A reader that goes away.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    /// Waits for its end; what hangs is killed and fails the test.
    pub fn end(mut self) -> Outcome {
        let stdout = self.stdout.take().map(|mut stdout| {
            std::thread::spawn(move || {
                let mut text = String::new();
                stdout.read_to_string(&mut text).unwrap();
                text
            })
        });
        let deadline = Instant::now() + LONG;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the process hangs");
            std::thread::sleep(Duration::from_millis(2));
        };
        self.stderr.take().unwrap().join().unwrap();
        let outcome = Outcome {
            took: self.started.elapsed(),
            code: status.code(),
            stdout: stdout.map_or(String::new(), |thread| thread.join().unwrap()),
            stderr: self.said.lock().unwrap().clone(),
        };
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        outcome
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Outcome {
    /// The one record on stdout, valid by the published schema.
    #[track_caller]
    pub fn record(&self) -> Record {
        assert_eq!(self.stdout.lines().count(), 1, "not one line: {self:?}");
        schema::record(&self.stdout)
    }

    /// One sentence on stderr that has these parts, and an exit code.
    #[track_caller]
    pub fn refused(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in: {}", self.stderr);
        }
        assert_eq!(self.stdout, "", "{self:?}");
        let said = self.stderr.lines().filter(|line| !line.starts_with("warning: ")).count();
        // A usage error of clap's has its hint and its usage below the sentence.
        assert!(code == 2 || said == 1, "more than one sentence: {}", self.stderr);
    }
}
