//! A child process that cannot outlive us, and whose words are bounded in time.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getppid, kill_process, pidfd_open, set_parent_process_death_signal};

use crate::interrupt::Interrupt;

/// Lines of stderr that are kept: the last ones say why a process failed.
const LINES_KEPT: usize = 8;
/// How often a wait looks whether somebody asked to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited<T> {
    /// What was waited for.
    Got(T),
    /// The child closed its stdout without it.
    Closed,
    /// Not within the limit.
    TimedOut,
    /// Somebody asked to stop.
    Interrupted,
}

/// A running child with stdin, stdout and stderr in our hands. Dropping it kills it.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    exit: OwnedFd,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Disconnected when its stderr has been read to the end.
    stderr_end: Receiver<()>,
}

/// Makes the kernel kill the command's process when the thread that spawned it ends, whatever ends it (SIGKILL too).
///
/// Spawn from a thread that lives as long as the child may.
pub fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe work is allowed. It makes two system calls
    // (prctl and getppid), allocates nothing, takes no lock and touches no memory of the parent but the copied `parent`.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the line above took effect: then nobody would send the signal.
            if getppid() == Some(parent) {
                Ok(())
            } else {
                Err(std::io::ErrorKind::Interrupted.into())
            }
        });
    }
}

impl Child {
    /// Starts a process. It gets a process group of its own, so that Ctrl-C reaches only us and we stop it in order.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(name: &str, mut command: Command) -> Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        die_with_parent(&mut command);
        let mut process = command.spawn().with_context(|| format!("{name} cannot be started"))?;

        let (sender, lines) = channel();
        let (reading, stderr_end) = channel::<()>();
        let last_lines = Arc::default();
        let stdin = process.stdin.take();
        if let Some(stdout) = process.stdout.take() {
            thread::spawn(move || read_lines(stdout, |line| sender_takes(&sender, line)));
        }
        if let Some(stderr) = process.stderr.take() {
            let last_lines = Arc::clone(&last_lines);
            thread::spawn(move || {
                read_lines(stderr, |line| keep_last(&last_lines, line));
                drop(reading);
            });
        }
        let exit = match pidfd_open(Pid::from_child(&process), PidfdFlags::empty()) {
            Ok(exit) => exit,
            Err(error) => {
                // Without it no wait could be bounded.
                let _ = process.kill();
                let _ = process.wait();
                return Err(error).with_context(|| format!("{name}: its end cannot be watched (pidfd_open, Linux 5.3)"));
            }
        };
        Ok(Self {
            name: name.to_owned(),
            process,
            exit,
            stdin,
            lines,
            last_lines,
            stderr_end,
        })
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes one line to its stdin.
    ///
    /// # Errors
    /// When it has ended, or its stdin was closed.
    pub fn write_line(&mut self, line: &str) -> std::io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        writeln!(stdin, "{line}")
    }

    /// The next line of its stdout.
    pub fn next_line(&self, limit: Duration, interrupt: &Interrupt) -> Waited<String> {
        let deadline = Instant::now() + limit;
        loop {
            if interrupt.requested() {
                return Waited::Interrupted;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(LOOK_EVERY)) {
                Ok(line) => return Waited::Got(line),
                Err(RecvTimeoutError::Disconnected) => return Waited::Closed,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Waited::TimedOut,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Everything it prints on stdout until it ends, and how it ended.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn output(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<Waited<(String, ExitStatus)>> {
        let deadline = Instant::now() + limit;
        let mut text = String::new();
        loop {
            match self.next_line(deadline.saturating_duration_since(Instant::now()), interrupt) {
                Waited::Got(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                Waited::Closed => break,
                Waited::TimedOut => return Ok(Waited::TimedOut),
                Waited::Interrupted => return Ok(Waited::Interrupted),
            }
        }
        Ok(match self.wait(deadline.saturating_duration_since(Instant::now()), interrupt)? {
            Waited::Got(status) => Waited::Got((text, status)),
            Waited::Closed | Waited::TimedOut => Waited::TimedOut,
            Waited::Interrupted => Waited::Interrupted,
        })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn wait(&mut self, limit: Duration, interrupt: &Interrupt) -> Result<Waited<ExitStatus>> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let slice = left.min(LOOK_EVERY);
            let slice = Timespec {
                tv_sec: 0,
                tv_nsec: slice.subsec_nanos().into(),
            };
            // A signal may cut the poll short: that is what the next look is for.
            let _ = poll(&mut [PollFd::new(&self.exit, PollFlags::IN)], Some(&slice));
            let ended = self.process.try_wait().with_context(|| format!("waiting for {}", self.name))?;
            match ended {
                Some(status) => return Ok(Waited::Got(status)),
                None if interrupt.requested() => return Ok(Waited::Interrupted),
                None if left.is_zero() => return Ok(Waited::TimedOut),
                None => {}
            }
        }
    }

    /// Closes its stdin and waits for its end, up to `grace`; then it is killed. `None` if it had to be.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn close_and_wait(&mut self, grace: Duration) -> Result<Option<ExitStatus>> {
        self.stdin = None;
        // Asking to stop does not shorten this: the grace is short, and a server that stops in order loses nothing.
        match self.wait(grace, &Interrupt::never())? {
            Waited::Got(status) => Ok(Some(status)),
            _ => {
                self.kill();
                Ok(None)
            }
        }
    }

    /// Asks it to stop with SIGTERM and waits for its end, up to `grace`; then it is killed.
    pub fn terminate(mut self, grace: Duration) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.wait(grace, &Interrupt::never());
    }

    /// The last lines of its stderr so far, joined.
    pub fn last_words(&self) -> String {
        let lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }

    /// The last lines of the stderr of a child that has ended, joined: the reason of a failure.
    pub fn final_words(&self) -> String {
        // Its reader may be a moment behind; bounded, for a grandchild may hold the pipe open.
        let _ = self.stderr_end.recv_timeout(Duration::from_secs(1));
        self.last_words()
    }

    fn kill(&mut self) {
        if !matches!(self.process.try_wait(), Ok(Some(_))) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

fn sender_takes(sender: &Sender<String>, line: String) -> bool {
    sender.send(line).is_ok()
}

fn keep_last(lines: &Mutex<VecDeque<String>>, line: String) -> bool {
    if line.trim().is_empty() {
        return true;
    }
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.len() == LINES_KEPT {
        lines.pop_front();
    }
    lines.push_back(line);
    true
}

/// Hands on each line until the stream ends or nobody takes any more; a reader must go on reading, or the child would block.
fn read_lines(stream: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut stream = BufReader::new(stream);
    let mut taken = true;
    loop {
        let mut bytes = Vec::new();
        match stream.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) if taken => taken = take(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Child::spawn("sh", command).unwrap()
    }

    #[test]
    fn lines_output_exit_code_and_last_words_come_through() {
        let mut child = shell("echo ready; echo one; echo two; echo why >&2; exit 3");
        assert_eq!(child.next_line(LONG, &Interrupt::never()), Waited::Got("ready".to_owned()));
        let Waited::Got((text, status)) = child.output(LONG, &Interrupt::never()).unwrap() else {
            panic!("no output");
        };
        assert_eq!((text.as_str(), status.code()), ("one\ntwo\n", Some(3)));
        assert_eq!(child.final_words(), "why");
    }

    #[test]
    fn a_silent_child_times_out_and_a_gone_one_is_noticed_at_once() {
        let silent = shell("exec sleep 60");
        assert_eq!(silent.next_line(Duration::from_millis(80), &Interrupt::never()), Waited::TimedOut);
        assert_eq!(shell("exit 0").next_line(LONG, &Interrupt::never()), Waited::Closed);
    }

    #[test]
    fn closing_stdin_ends_a_child_that_listens_to_it_and_the_other_kind_is_killed() {
        let status = shell("cat >/dev/null; exit 7").close_and_wait(LONG).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(7));
        assert!(shell("exec sleep 60").close_and_wait(Duration::from_millis(80)).unwrap().is_none());
    }

    #[test]
    fn asking_to_stop_ends_every_wait() {
        let interrupt = Interrupt::never();
        interrupt.request();
        let mut child = shell("exec sleep 60");
        assert_eq!(child.next_line(LONG, &interrupt), Waited::Interrupted);
        assert_eq!(child.wait(LONG, &interrupt).unwrap(), Waited::Interrupted);
    }
}
