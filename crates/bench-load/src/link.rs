//! A caller's connection: its own or a shared one, and opening it again after it was lost.

use std::rc::Rc;
use std::time::Duration;

use bench_core::failure::CallError;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::sync::Mutex;

use crate::connect::{CallResult, Connect};
use crate::target::Target;

/// Attempts to open a lost connection again before its callers give up.
const ATTEMPTS: u32 = 10;
/// Pause after the first failed attempt; doubled after each further one. A random half of it is left out, so that a thousand callers
/// who lost their server together do not come back together.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What a caller calls through.
pub(crate) struct Link<C> {
    /// The connection to use.
    pub connection: C,
    target: Rc<Target>,
    shared: Option<Membership<C>>,
    random: SmallRng,
}

/// A connection that several callers of one thread use.
pub(crate) struct SharedConnection<C> {
    current: Mutex<Current<C>>,
}

struct Current<C> {
    connection: C,
    /// How often it was opened again: tells the first caller that notices a loss from those that notice after it was mended.
    generation: u64,
    given_up: bool,
}

struct Membership<C> {
    of: Rc<SharedConnection<C>>,
    share: fn(&C) -> C,
    generation: u64,
}

/// How a reconnect went.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reopened {
    /// By this caller.
    Here,
    /// By another caller of the same connection.
    Elsewhere,
}

impl<C: Connect> Link<C> {
    /// A connection of the caller's own.
    pub fn own(connection: C, target: Rc<Target>, seed: u64) -> Self {
        Self {
            connection,
            target,
            shared: None,
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// A share of a connection.
    pub async fn member(of: &Rc<SharedConnection<C>>, share: fn(&C) -> C, target: Rc<Target>, seed: u64) -> Self {
        let current = of.current.lock().await;
        Self {
            connection: share(&current.connection),
            target,
            shared: Some(Membership {
                of: of.clone(),
                share,
                generation: current.generation,
            }),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// True when other callers use the connection too.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Opens the connection again, with back-off, at most [`ATTEMPTS`] times.
    pub async fn reopen(&mut self) -> CallResult<Reopened> {
        let Some(shared) = &mut self.shared else {
            self.connection = open(&self.target, &mut self.random).await?;
            return Ok(Reopened::Here);
        };
        // Whoever comes first mends it for all; the others wait here meanwhile.
        let mut current = shared.of.current.lock().await;
        let mut reopened = Reopened::Elsewhere;
        if current.generation == shared.generation {
            if current.given_up {
                return Err(CallError::fatal(
                    bench_core::failure::FailureKind::Refused,
                    "the shared connection was given up",
                ));
            }
            match open(&self.target, &mut self.random).await {
                Ok(connection) => current.connection = connection,
                Err(error) => {
                    current.given_up = true;
                    return Err(error);
                }
            }
            current.generation += 1;
            reopened = Reopened::Here;
        }
        shared.generation = current.generation;
        self.connection = (shared.share)(&current.connection);
        Ok(reopened)
    }
}

impl<C> SharedConnection<C> {
    pub fn new(connection: C) -> Rc<Self> {
        Rc::new(Self {
            current: Mutex::new(Current {
                connection,
                generation: 0,
                given_up: false,
            }),
        })
    }
}

async fn open<C: Connect>(target: &Target, random: &mut SmallRng) -> CallResult<C> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        match C::connect(target).await {
            Ok(connection) => return Ok(connection),
            Err(error) if attempt == ATTEMPTS => return Err(error),
            Err(_) => {
                tokio::time::sleep(pause.mul_f64(random.random_range(0.5..1.0))).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                attempt += 1;
            }
        }
    }
}
