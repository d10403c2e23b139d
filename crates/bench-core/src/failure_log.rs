//! What went wrong with a server's connections.

use std::sync::{Arc, Mutex, PoisonError};

use crate::first_texts::FirstTexts;
use crate::talk;

/// Counts failures and keeps the first texts. Clones share one log.
#[derive(Clone, Default)]
pub struct FailureLog {
    entries: Arc<Mutex<Entries>>,
}

#[derive(Default)]
struct Entries {
    count: u64,
    texts: FirstTexts,
}

impl FailureLog {
    /// Counts one failure; the first ten are printed on stderr as well, and no more: a flood of garbage must not become a flood of lines.
    pub fn add(&self, text: &str) {
        let (kept, last) = {
            let mut entries = self.lock();
            entries.count += 1;
            let kept = entries.texts.add(text).map(str::to_owned);
            (kept, entries.texts.is_full())
        };
        if let Some(kept) = kept {
            let more = if last { " (further failures are counted, not printed)" } else { "" };
            talk::say(format_args!("{kept}{more}"));
        }
    }

    /// Number of failures and the first texts.
    pub fn read(&self) -> (u64, Vec<String>) {
        let entries = self.lock();
        (entries.count, entries.texts.texts().to_vec())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_counts_all_and_keeps_ten() {
        let log = FailureLog::default();
        (0..25).for_each(|i| log.add(&format!("failure {i}")));
        let (count, texts) = log.read();
        assert_eq!((count, texts.len()), (25, 10));
    }
}
