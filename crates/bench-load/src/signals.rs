//! Ctrl-C and SIGTERM: the first ends the window early and keeps what was measured, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Exit code of an interrupted run.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// Interrupted before anything was measured.
#[derive(Debug, thiserror::Error)]
#[error("interrupted before the window opened: nothing was measured")]
pub(crate) struct Interrupted;

/// Whether to stop.
#[derive(Clone)]
pub(crate) struct Signals {
    asked: Arc<AtomicBool>,
}

impl Signals {
    pub fn listen() -> anyhow::Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Order matters: the shutdown looks at the flag before this signal sets it.
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED.into(), asked.clone())
                .and_then(|_| signal_hook::flag::register(signal, asked.clone()))
                .context("cannot listen for signals")?;
        }
        Ok(Self { asked })
    }

    /// True after the first signal.
    pub fn asked_to_stop(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
