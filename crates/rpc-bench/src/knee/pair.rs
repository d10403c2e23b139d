//! A process pair that is started anew when it breaks: that a stack does not survive a rate is a result, and the next rate is asked
//! about all the same.

use anyhow::Result;
use bench_core::record::Record;

use crate::interrupt::Interrupt;
use crate::trial::{Arm, Held, Slice};

/// Between the seeds of two pairs of one search: more than there are slices, each of which has a seed of its own.
const SEEDS: u64 = 1_000;

/// How a slice ended.
#[derive(Debug)]
pub(super) enum Measured {
    /// With a record, good or bad.
    Ran(Box<Record>),
    /// A process ended, was silent or made no sense, and in which words.
    Broke(String),
    /// Somebody asked to stop.
    Interrupted,
}

/// Server and client of one arm; started by the first slice, and by the first one after they broke.
pub(super) struct Pair<'a> {
    arm: &'a Arm,
    seed: u64,
    interrupt: &'a Interrupt,
    held: Option<Held>,
}

impl<'a> Pair<'a> {
    pub fn new(arm: &'a Arm, seed: u64, interrupt: &'a Interrupt) -> Self {
        Self {
            arm,
            seed,
            interrupt,
            held: None,
        }
    }

    pub fn measure(&mut self, slice: Slice) -> Measured {
        match self.attempt(slice) {
            Ok(Some(record)) => Measured::Ran(Box::new(record)),
            Ok(None) => Measured::Interrupted,
            Err(_) if self.interrupt.requested() => Measured::Interrupted,
            Err(error) => Measured::Broke(format!("{error:#}")),
        }
    }

    fn attempt(&mut self, slice: Slice) -> Result<Option<Record>> {
        let mut held = match self.held.take() {
            Some(held) => held,
            None => {
                let Some(held) = Held::start(self.arm, self.seed, self.interrupt)? else {
                    return Ok(None);
                };
                self.seed = self.seed.wrapping_add(SEEDS);
                held
            }
        };
        // One that breaks is dropped, which ends what is left of it.
        let record = held.measure(self.arm, slice, self.interrupt)?;
        self.held = Some(held);
        Ok(record)
    }

    /// Ends both processes.
    ///
    /// # Errors
    /// When the system does not tell how they ended.
    pub fn stop(self) -> Result<()> {
        self.held.map_or(Ok(()), Held::stop)
    }
}
