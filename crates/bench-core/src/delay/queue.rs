//! Who waits, in order of release: bookkeeping only, no clock and no system call.
//!
//! All waits last the same time, so they are released in the order they came and a FIFO does the work of a heap in O(1).
//! A wait owns a slot from `push` until both sides are through with it: the FIFO (its time came) and the waiting side (it
//! took the result, or gave up). So a slot is never reused while somebody still names it, and a wait that was
//! dropped costs its slot for the rest of its delay and no longer. Slots and FIFO grow to the most that ever waited at once;
//! after that nothing is allocated.

use std::{
    collections::VecDeque,
    mem,
    task::{Context, Poll, Waker},
};

/// Names one wait inside its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotId(usize);

#[derive(Debug)]
enum Slot {
    /// Nobody's. Also the state of a slot that its waiting side dropped while in the FIFO: `release` frees it.
    Vacant,
    /// Not due. No waker before the first poll.
    Waiting(Option<Waker>),
    /// Due since this instant; the waiting side has not run yet.
    Released(u64),
}

#[derive(Default)]
pub(super) struct Queue {
    /// (instant of release, who).
    fifo: VecDeque<(u64, SlotId)>,
    slots: Vec<Slot>,
    free: Vec<SlotId>,
    stopped: bool,
}

impl Queue {
    /// Adds a wait; `release_ns` must not decrease from call to call. `None` once stopped: nobody would release it.
    pub(super) fn push(&mut self, release_ns: u64) -> Option<SlotId> {
        if self.stopped {
            return None;
        }
        debug_assert!(self.fifo.back().is_none_or(|&(last_ns, _)| last_ns <= release_ns));
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::Vacant);
            SlotId(self.slots.len() - 1)
        });
        self.slots[slot.0] = Slot::Waiting(None);
        self.fifo.push_back((release_ns, slot));
        Some(slot)
    }

    /// When the next release is due, of a dropped wait too; `None` if nothing is queued.
    pub(super) fn next_release_ns(&self) -> Option<u64> {
        self.fifo.front().map(|&(release_ns, _)| release_ns)
    }

    /// Releases all that is due at `now_ns`, first come first, and appends their wakers to `wakers`.
    pub(super) fn release(&mut self, now_ns: u64, wakers: &mut Vec<Waker>) {
        while let Some(&(release_ns, slot)) = self.fifo.front()
            && release_ns <= now_ns
        {
            self.fifo.pop_front();
            match mem::replace(&mut self.slots[slot.0], Slot::Released(now_ns)) {
                Slot::Waiting(waker) => wakers.extend(waker),
                Slot::Vacant | Slot::Released(_) => self.give_back(slot),
            }
        }
    }

    /// No wait will be released any more: hands out every waker, and from now on `poll` answers `Ready(None)`.
    pub(super) fn stop(&mut self, wakers: &mut Vec<Waker>) {
        self.stopped = true;
        for (_, slot) in mem::take(&mut self.fifo) {
            match &mut self.slots[slot.0] {
                Slot::Waiting(waker) => wakers.extend(waker.take()),
                Slot::Vacant | Slot::Released(_) => self.free.push(slot),
            }
        }
    }

    /// The instant of release (the slot is then given back), or keeps the waker of `cx`. `Ready(None)` if the queue
    /// was stopped before. A waker that this replaces comes back: dropping one may run any code, so not under the lock.
    pub(super) fn poll(&mut self, slot: SlotId, cx: &Context<'_>) -> (Poll<Option<u64>>, Option<Waker>) {
        match &mut self.slots[slot.0] {
            Slot::Waiting(Some(waker)) if !self.stopped && waker.will_wake(cx.waker()) => (Poll::Pending, None),
            Slot::Waiting(waker) if !self.stopped => (Poll::Pending, waker.replace(cx.waker().clone())),
            state => {
                let released_ns = match state {
                    Slot::Released(at_ns) => Some(*at_ns),
                    Slot::Waiting(_) | Slot::Vacant => None,
                };
                self.give_back(slot);
                (Poll::Ready(released_ns), None)
            }
        }
    }

    /// The waiting side gives up; its waker, if any, is to be dropped outside the lock.
    pub(super) fn abandon(&mut self, slot: SlotId) -> Option<Waker> {
        match mem::replace(&mut self.slots[slot.0], Slot::Vacant) {
            // The FIFO still names it, unless stopped.
            Slot::Waiting(waker) if !self.stopped => waker,
            _ => {
                self.give_back(slot);
                None
            }
        }
    }

    fn give_back(&mut self, slot: SlotId) {
        self.slots[slot.0] = Slot::Vacant;
        self.free.push(slot);
    }

    /// Slots in use, dropped waits included until their time comes.
    #[cfg(test)]
    pub(super) fn occupied(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        task::Wake,
    };

    use super::*;

    /// Writes its number down when woken.
    struct Note(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Note {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    fn release(queue: &mut Queue, now_ns: u64) -> usize {
        let mut wakers = Vec::new();
        queue.release(now_ns, &mut wakers);
        let count = wakers.len();
        wakers.into_iter().for_each(Waker::wake);
        count
    }

    #[test]
    fn first_come_is_first_released_and_dropped_waits_are_passed_over() {
        let (mut queue, woken) = (Queue::default(), Arc::default());
        let slots: Vec<_> = (0..6).map(|i| queue.push(10 * i).unwrap()).collect();
        for (i, &slot) in slots.iter().enumerate() {
            let waker = Arc::new(Note(i, Arc::clone(&woken))).into();
            assert!(queue.poll(slot, &Context::from_waker(&waker)).0.is_pending());
        }
        assert!(queue.abandon(slots[2]).is_some());
        assert_eq!(release(&mut queue, 35), 3);
        assert_eq!(queue.next_release_ns(), Some(40));
        assert_eq!(release(&mut queue, 50), 2);
        assert_eq!(*woken.lock().unwrap(), [0, 1, 3, 4, 5]);
    }

    #[test]
    fn a_dropped_wait_gives_its_slot_back_when_its_time_comes_and_not_before() {
        let mut queue = Queue::default();
        let first = queue.push(10).unwrap();
        queue.abandon(first);
        let second = queue.push(20).unwrap();
        assert_ne!(first, second, "the FIFO still names the first slot");
        assert_eq!(queue.occupied(), 2);
        assert_eq!(release(&mut queue, 10), 0);
        assert_eq!(queue.occupied(), 1);
        assert_eq!(queue.push(30), Some(first));
    }

    #[test]
    fn a_wait_dropped_after_its_release_gives_its_slot_back_at_once() {
        let mut queue = Queue::default();
        let slot = queue.push(10).unwrap();
        release(&mut queue, 10);
        queue.abandon(slot);
        assert_eq!(queue.occupied(), 0);
    }

    #[test]
    fn the_instant_of_release_is_told_to_a_wait_polled_late() {
        let mut queue = Queue::default();
        let slot = queue.push(10).unwrap();
        release(&mut queue, 12);
        assert_eq!(queue.poll(slot, &Context::from_waker(Waker::noop())).0, Poll::Ready(Some(12)));
        assert_eq!(queue.occupied(), 0);
    }

    #[test]
    fn stopping_wakes_all_and_takes_no_more() {
        let mut queue = Queue::default();
        let cx = Context::from_waker(Waker::noop());
        let slots: Vec<_> = (0..4).map(|i| queue.push(i).unwrap()).collect();
        for &slot in &slots[..3] {
            assert!(queue.poll(slot, &cx).0.is_pending());
        }
        queue.abandon(slots[0]);
        let mut wakers = Vec::new();
        queue.stop(&mut wakers);
        assert_eq!(wakers.len(), 2);
        assert_eq!(queue.push(9), None);
        assert_eq!(queue.poll(slots[1], &cx).0, Poll::Ready(None));
        queue.abandon(slots[2]);
        queue.abandon(slots[3]);
        assert_eq!(queue.occupied(), 0);
    }

    #[test]
    fn steady_use_needs_no_new_slots() {
        let mut queue = Queue::default();
        for now_ns in 0..10_000 {
            release(&mut queue, now_ns);
            let slot = queue.push(now_ns + 50).unwrap();
            queue.abandon(slot);
        }
        assert_eq!(queue.slots.len(), 50);
    }
}
