//! Service times of thousands of threads, without a histogram for each.

use std::sync::{Arc, Mutex, PoisonError};

use bench_core::histogram::Times;

use crate::caller::{OpenTimes, RecordTime, Tally};

/// Times that a thread keeps to itself before it adds them to the group's histogram: few enough that the buffers of five thousand threads
/// take 5 MB, where a histogram each would take 2 GB; enough that the lock costs nothing per call.
const KEPT_TIMES: usize = 128;

/// Times of all threads of a group in one run.
#[derive(Clone, Default)]
pub(super) struct GroupTimes {
    pub(super) service: Arc<Mutex<Times>>,
    pub(super) failed: Arc<Mutex<Times>>,
    /// Of an open loop: response, send lag and pacer lag.
    pub(super) open: Option<[Arc<Mutex<Times>>; 3]>,
}

impl GroupTimes {
    pub(super) fn new(open: bool) -> Self {
        Self {
            open: open.then(Default::default),
            ..Self::default()
        }
    }

    /// An empty tally of one thread, whose times end up here.
    pub(super) fn tally(&self) -> Tally<KeptTimes> {
        let open = self.open.as_ref().map(|[response, send_lag, pacer_lag]| OpenTimes {
            response: KeptTimes::of(response),
            send_lag: KeptTimes::of(send_lag),
            pacer_lag: KeptTimes::of(pacer_lag),
        });
        Tally::of(KeptTimes::of(&self.service), KeptTimes::of(&self.failed), open)
    }

    /// Adds all times to a tally.
    pub(super) fn add_to(&self, tally: &mut Tally) {
        tally.service.merge(&lock(&self.service));
        tally.failed_time.merge(&lock(&self.failed));
        if let (Some(open), Some([response, send_lag, pacer_lag])) = (&mut tally.open, &self.open) {
            open.response.merge(&lock(response));
            open.send_lag.merge(&lock(send_lag));
            open.pacer_lag.merge(&lock(pacer_lag));
        }
    }
}

/// Times of one thread on their way to the group's.
pub(super) struct KeptTimes {
    kept: Vec<u64>,
    group: Arc<Mutex<Times>>,
}

impl KeptTimes {
    pub(super) fn of(group: &Arc<Mutex<Times>>) -> Self {
        Self {
            kept: Vec::new(),
            group: group.clone(),
        }
    }

    pub(super) fn hand_over(&mut self) {
        let mut group = lock(&self.group);
        self.kept.drain(..).for_each(|time_ns| group.record(time_ns));
    }
}

impl Tally<KeptTimes> {
    /// Hands over what the thread still keeps.
    pub(super) fn hand_over(&mut self) {
        self.service.hand_over();
        self.failed_time.hand_over();
        if let Some(open) = &mut self.open {
            open.response.hand_over();
            open.send_lag.hand_over();
            open.pacer_lag.hand_over();
        }
    }
}

impl RecordTime for KeptTimes {
    #[inline]
    fn record(&mut self, time_ns: u64) {
        if self.kept.len() == KEPT_TIMES {
            self.hand_over();
        }
        if self.kept.capacity() == 0 {
            self.kept.reserve_exact(KEPT_TIMES);
        }
        self.kept.push(time_ns);
    }
}

pub(super) fn lock(times: &Mutex<Times>) -> std::sync::MutexGuard<'_, Times> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}
