//! SIGINT and SIGTERM: the first asks to stop, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::usage::INTERRUPTED;

/// Whether somebody asked the command to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that only [`Interrupt::request`] sets off.
    pub fn never() -> Self {
        Self::default()
    }

    /// Listens to SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn listen() -> Result<Self> {
        let asked = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set and ends the process; children die with it.
            flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&asked.0))
                .and_then(|_| flag::register(signal, Arc::clone(&asked.0)))
                .context("the handlers of SIGINT and SIGTERM cannot be installed")?;
        }
        Ok(asked)
    }

    /// Asks to stop, as a signal does.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once somebody asked to stop.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
