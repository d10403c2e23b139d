//! A caller's connection: its own or a shared one, and opening it again after it was lost.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bench_core::failure::{CallError, FailureKind};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::sync::Mutex;

use crate::connect::{CallResult, Connect};
use crate::target::Target;

/// Attempts to open a lost connection again before its callers give up. A connection that opens and brings no good reply was an attempt
/// too: a server that accepts and hangs up must not see a storm.
const ATTEMPTS: u32 = 10;
/// Pause after the first attempt that came to nothing; doubled after each further one. A random half of it is left out, so that a
/// thousand callers who lost their server together do not come back together.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What a caller calls through.
pub(crate) struct Link<C> {
    /// The connection to use.
    pub connection: C,
    /// True from an error that made the connection unusable until it is open again.
    pub lost: bool,
    target: Rc<Target>,
    shared: Option<Membership<C>>,
    /// Attempts to open the connection since its last good reply; one count for all who share it.
    attempts: Rc<Cell<u32>>,
    random: SmallRng,
}

/// A connection that several callers of one thread use.
pub(crate) struct SharedConnection<C> {
    current: Mutex<Current<C>>,
    attempts: Rc<Cell<u32>>,
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
            lost: false,
            target,
            shared: None,
            attempts: Rc::default(),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// A share of a connection.
    pub async fn member(of: &Rc<SharedConnection<C>>, share: fn(&C) -> C, target: Rc<Target>, seed: u64) -> Self {
        let current = of.current.lock().await;
        Self {
            connection: share(&current.connection),
            lost: false,
            target,
            shared: Some(Membership {
                of: of.clone(),
                share,
                generation: current.generation,
            }),
            attempts: of.attempts.clone(),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// True when the connection can carry several calls at once.
    pub fn carries_many(&self) -> bool {
        self.shared.is_some()
    }

    /// A good reply came: the next loss starts with an attempt at once.
    #[inline]
    pub fn has_worked(&self) {
        self.attempts.set(0);
    }

    /// Opens the connection again, with back-off, at most [`ATTEMPTS`] times without a good reply between.
    pub async fn reopen(&mut self) -> CallResult<Reopened> {
        let Some(shared) = &mut self.shared else {
            self.connection = open(&self.target, &self.attempts, &mut self.random).await?;
            self.lost = false;
            return Ok(Reopened::Here);
        };
        // Whoever comes first mends it for all; the others wait here meanwhile.
        let mut current = shared.of.current.lock().await;
        let mut reopened = Reopened::Elsewhere;
        if current.generation == shared.generation {
            if current.given_up {
                return Err(CallError::fatal(FailureKind::Refused, "the shared connection was given up"));
            }
            match open(&self.target, &self.attempts, &mut self.random).await {
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
        self.lost = false;
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
            attempts: Rc::default(),
        })
    }
}

async fn open<C: Connect>(target: &Target, attempts: &Cell<u32>, random: &mut SmallRng) -> CallResult<C> {
    let mut last = CallError::fatal(FailureKind::Reset, format!("{ATTEMPTS} connections in a row brought no good reply"));
    while attempts.get() < ATTEMPTS {
        if let Some(doublings) = attempts.get().checked_sub(1) {
            let pause = (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE);
            let pause = pause.mul_f64(random.random_range(0.5..1.0));
            match &target.slot {
                Some(slot) => slot.pause(pause),
                None => tokio::time::sleep(pause).await,
            }
        }
        if target.slot.as_ref().is_some_and(|slot| slot.is_cut()) {
            break;
        }
        attempts.set(attempts.get() + 1);
        match connect::<C>(target).await {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Opens one connection within the limit of `--timeout`, handshakes included.
pub(crate) async fn connect<C: Connect>(target: &Target) -> CallResult<C> {
    if C::BLOCKING {
        // The dialer keeps to the limit, and there is no runtime here whose timer could.
        return C::connect(target).await;
    }
    match tokio::time::timeout(target.dial_limit, C::connect(target)).await {
        Ok(result) => result,
        Err(_) => Err(CallError::fatal(
            FailureKind::Timeout,
            format!("no connection to {} within {:?}", target.text, target.dial_limit),
        )),
    }
}
