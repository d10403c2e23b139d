//! All checks of many wires at once, and the table of what came out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::{CHECKS, Check, Subject};
use crate::interrupt::Interrupt;
use crate::report::table::{Align, Table};

/// Checks that run at once. They wait for most of their time: for delays, limits and processes.
const AT_ONCE: usize = 4;

/// What one check said about one wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// As claimed.
    Passed,
    /// The wire has nothing to check.
    NotOffered,
    /// What is not as claimed.
    Failed(String),
}

impl Answer {
    fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(reason) => Some(reason),
            Self::Passed | Self::NotOffered => None,
        }
    }
}

/// The answers of all checks about all wires.
#[derive(Debug)]
pub struct Matrix {
    rows: Vec<(String, Vec<Answer>)>,
}

/// Runs every check on every subject and tells each failure as it comes. After a request to stop no further one is begun: those count as
/// failed.
pub fn run_all(subjects: &[Subject], interrupt: &Interrupt, tell: impl Fn(&str) + Sync) -> Matrix {
    let jobs: Vec<(&Subject, &Check)> = subjects
        .iter()
        .flat_map(|subject| CHECKS.iter().map(move |check| (subject, check)))
        .collect();
    let not_run = || Mutex::new(Answer::Failed("it was not run".to_owned()));
    let answers: Vec<Mutex<Answer>> = jobs.iter().map(|_| not_run()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while !interrupt.requested()
            && let Some((place, (subject, check))) = take(&next, &jobs)
        {
            let answer = answer(subject, check);
            if let Answer::Failed(reason) = &answer {
                tell(reason);
            }
            *answers[place].lock().unwrap_or_else(PoisonError::into_inner) = answer;
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let mut answers = answers
        .into_iter()
        .map(|answer| answer.into_inner().unwrap_or_else(PoisonError::into_inner));
    let rows = subjects.iter().map(|subject| {
        let name = format!("{} {}", subject.programs.stack.framework, subject.wire);
        (name, answers.by_ref().take(CHECKS.len()).collect())
    });
    Matrix { rows: rows.collect() }
}

fn take<'a, T>(next: &AtomicUsize, jobs: &'a [T]) -> Option<(usize, &'a T)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(place).map(|job| (place, job))
}

/// Runs a check, if it applies.
pub fn answer(subject: &Subject, check: &Check) -> Answer {
    if !check.applies_to(subject) {
        return Answer::NotOffered;
    }
    match check.run(subject) {
        Ok(()) => Answer::Passed,
        Err(error) => Answer::Failed(format!("{error:#}")),
    }
}

impl Matrix {
    /// True when nothing failed.
    pub fn all_passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Of each subject the first failure, if it has one.
    pub fn first_failures(&self) -> impl Iterator<Item = Option<&str>> {
        self.rows.iter().map(|(_, answers)| answers.iter().find_map(Answer::failure))
    }

    /// The reasons of all failures.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().flat_map(|(_, answers)| answers).filter_map(Answer::failure)
    }

    /// A row for each check, a column for each wire, and the reasons of what failed below.
    pub fn text(&self) -> String {
        let columns: Vec<String> = (1..=self.rows.len()).map(|number| format!("({number})")).collect();
        let head = std::iter::once(("check", Align::Left)).chain(columns.iter().map(|name| (name.as_str(), Align::Left)));
        let mut table = Table::new(head);
        for (place, check) in CHECKS.iter().enumerate() {
            let marks = self.rows.iter().map(|(_, answers)| mark(&answers[place]).to_owned());
            table.row(std::iter::once(check.name.to_owned()).chain(marks));
        }
        let mut text = table.text();
        text.push('\n');
        for (column, (name, _)) in columns.iter().zip(&self.rows) {
            text.push_str(&format!("{column} {name}\n"));
        }
        let failures: Vec<&str> = self.failures().collect();
        if failures.is_empty() {
            text.push_str("all checks passed; '-': not offered\n");
        }
        for failure in failures {
            text.push_str(&format!("FAILED {failure}\n"));
        }
        text
    }
}

fn mark(answer: &Answer) -> &'static str {
    match answer {
        Answer::Passed => "ok",
        Answer::NotOffered => "-",
        Answer::Failed(_) => "FAILED",
    }
}
