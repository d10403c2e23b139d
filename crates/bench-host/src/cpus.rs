//! Which CPUs a thread may run on, and putting it there.

use std::fmt;
use std::str::FromStr;

use rustix::io::Errno;
use rustix::thread::{self, sched_getaffinity, sched_setaffinity};

use crate::HostError;

/// CPU ids are below this: the size of the kernel interface's fixed mask.
pub const MAX_CPUS: u32 = thread::CpuSet::MAX_CPU as u32;

/// A set of CPU ids, each below [`MAX_CPUS`]; never empty, in ascending order.
///
/// Written as the kernel writes it: `0-3,5`; `all` is read as [`CpuSet::allowed`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CpuSet(Vec<u32>);

impl CpuSet {
    /// The CPUs the calling thread may run on (`sched_getaffinity`).
    ///
    /// Follows `taskset` and a container's cpuset, not its CPU quota.
    ///
    /// # Errors
    /// [`HostError::Call`] if the kernel does not say (a machine of more than [`MAX_CPUS`] CPUs).
    pub fn allowed() -> Result<Self, HostError> {
        let mask = sched_getaffinity(None).map_err(|errno| HostError::Call {
            call: "sched_getaffinity",
            source: errno.into(),
            way_out: "machines of more than 1024 CPUs and sandboxes without it are not supported",
        })?;
        // Never empty: this thread is running on one of them.
        Ok(Self((0..MAX_CPUS).filter(|&id| mask.is_set(id as usize)).collect()))
    }

    /// The set of these ids, in whatever order and however often given; `None` if there is none
    /// or one is not below [`MAX_CPUS`].
    pub fn from_ids(ids: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut ids: Vec<u32> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.last().is_some_and(|&last| last < MAX_CPUS).then_some(Self(ids))
    }

    /// The ids, ascending, at least one.
    pub fn ids(&self) -> &[u32] {
        &self.0
    }

    /// The ids as an index has them, for records.
    pub fn indices(&self) -> Vec<usize> {
        self.0.iter().map(|&id| id as usize).collect()
    }

    /// The CPUs of each of `threads` threads: one each where there are as many CPUs as threads, else all of them for every thread.
    pub fn per_thread(&self, threads: usize) -> Vec<Self> {
        if self.0.len() == threads {
            return self.0.iter().map(|&id| Self(vec![id])).collect();
        }
        vec![self.clone(); threads]
    }

    /// Whether `id` is one of them.
    pub fn contains(&self, id: u32) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// Checks that all of these are among `allowed`: for a flag, before anything is started.
    ///
    /// # Errors
    /// [`HostError::CpusRefused`] naming those that are not.
    pub fn check_within(&self, allowed: &Self) -> Result<(), HostError> {
        match Self::from_ids(self.0.iter().copied().filter(|&id| !allowed.contains(id))) {
            None => Ok(()),
            Some(refused) => Err(HostError::CpusRefused {
                asked: self.clone(),
                refused,
                allowed: allowed.clone(),
            }),
        }
    }

    /// Makes the calling thread run on these CPUs only. Threads it starts afterwards inherit
    /// it, existing ones keep theirs.
    ///
    /// The kernel decides: a thread may also be put on CPUs outside its present affinity (it may
    /// undo a `taskset` or an earlier pin), never outside its cpuset or on one that is offline.
    ///
    /// # Errors
    /// [`HostError::CpusRefused`] if it may not use every one of them (the kernel would silently
    /// take the rest; here the thread keeps what it had); [`HostError::Call`] if it may not be
    /// moved at all.
    pub fn pin_thread(&self) -> Result<(), HostError> {
        let before = Self::allowed()?;
        match sched_setaffinity(None, &self.mask()) {
            Ok(()) => {}
            Err(Errno::INVAL) => {
                return Err(HostError::CpusRefused {
                    asked: self.clone(),
                    refused: self.clone(),
                    allowed: before,
                });
            }
            Err(errno) => return Err(cannot_move(errno)),
        }
        let got = Self::allowed()?;
        if let Some(refused) = Self::from_ids(self.0.iter().copied().filter(|&id| !got.contains(id))) {
            sched_setaffinity(None, &before.mask()).map_err(cannot_move)?;
            return Err(HostError::CpusRefused {
                asked: self.clone(),
                refused,
                allowed: before,
            });
        }
        Ok(())
    }

    fn mask(&self) -> thread::CpuSet {
        let mut mask = thread::CpuSet::new();
        self.0.iter().for_each(|&id| mask.set(id as usize));
        mask
    }
}

fn cannot_move(errno: Errno) -> HostError {
    HostError::Call {
        call: "sched_setaffinity",
        source: errno.into(),
        way_out: "run without choosing CPUs, or allow the call in the sandbox",
    }
}

impl FromStr for CpuSet {
    type Err = HostError;

    /// Reads `0-3,5` or `all`, blanks around it ignored.
    fn from_str(text: &str) -> Result<Self, HostError> {
        if text.trim() == "all" {
            return Self::allowed();
        }
        parse_list(text.trim()).ok_or_else(|| HostError::CpuList { text: text.to_owned() })
    }
}

fn parse_list(text: &str) -> Option<CpuSet> {
    let mut ids = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (parse_id(first)?, parse_id(last)?);
        if first > last {
            return None;
        }
        ids.extend(first..=last);
    }
    CpuSet::from_ids(ids)
}

/// Digits only (`u32::from_str` would take a plus sign), and in range before a range is expanded.
fn parse_id(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&id| digits && id < MAX_CPUS)
}

impl fmt::Display for CpuSet {
    /// The shortest form: `0-3,5`; two neighbours are a range too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match run {
                [only] => write!(f, "{comma}{only}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ids: &[u32], canonical: &str) {
        let set: CpuSet = text.parse().unwrap();
        assert_eq!(set.ids(), ids);
        assert_eq!(set.to_string(), canonical);
        assert_eq!(canonical.parse::<CpuSet>().unwrap(), set);
    }

    #[test]
    fn lists_are_read_and_written_canonically() {
        check("0", &[0], "0");
        check("0-3,5", &[0, 1, 2, 3, 5], "0-3,5");
        check("5,3,2,1,0,3", &[0, 1, 2, 3, 5], "0-3,5");
        check("0-1,1-2,7-7", &[0, 1, 2, 7], "0-2,7");
        check("0,2,4", &[0, 2, 4], "0,2,4");
        check("1023\n", &[1023], "1023");
    }

    #[test]
    fn what_is_not_a_list_is_refused_with_the_form_it_takes() {
        let wrong = [
            "",
            " ",
            ",",
            "0,",
            "3-1",
            "-1",
            "1-",
            "0-3-5",
            "+1",
            "a",
            "0 1",
            "1024",
            "0-4000000000",
            "ALL",
        ];
        for text in wrong {
            let error = text.parse::<CpuSet>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
            assert!(error.contains("0-3,5, or all"), "{error}");
        }
    }

    #[test]
    fn all_is_what_this_thread_may_use() {
        assert_eq!("all".parse::<CpuSet>().unwrap(), CpuSet::allowed().unwrap());
    }

    #[test]
    fn a_set_is_never_empty() {
        assert_eq!(CpuSet::from_ids([]), None);
        assert_eq!(CpuSet::from_ids([MAX_CPUS]), None);
    }

    #[test]
    fn cpus_that_are_not_allowed_are_named() {
        let allowed: CpuSet = "0-3".parse().unwrap();
        let asked: CpuSet = "2-5".parse().unwrap();
        let text = asked.check_within(&allowed).unwrap_err().to_string();
        assert!(text.contains("CPU 4-5 (of 2-5 asked for): this thread has 0-3"), "{text}");
        assert!(allowed.check_within(&allowed).is_ok());
    }

    /// Affinity belongs to the thread: each case has its own.
    fn in_a_thread(case: fn()) {
        std::thread::spawn(case).join().unwrap();
    }

    #[test]
    fn a_pinned_thread_may_use_those_cpus_only_and_can_be_unpinned() {
        in_a_thread(|| {
            let all = CpuSet::allowed().unwrap();
            for &id in all.ids() {
                let one = CpuSet::from_ids([id]).unwrap();
                one.pin_thread().unwrap();
                assert_eq!(CpuSet::allowed().unwrap(), one);
                assert_eq!(thread::sched_getcpu(), id as usize);
            }
            all.pin_thread().unwrap();
            assert_eq!(CpuSet::allowed().unwrap(), all);
        });
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_and_the_thread_keeps_its_cpus() {
        in_a_thread(|| {
            let before = CpuSet::allowed().unwrap();
            let absent = MAX_CPUS - 1;
            assert!(!before.contains(absent), "a machine of 1024 CPUs");
            for asked in [vec![absent], vec![before.ids()[0], absent]] {
                let error = CpuSet::from_ids(asked).unwrap().pin_thread().unwrap_err();
                assert!(error.to_string().contains("CPU 1023 (of "), "{error}");
                assert_eq!(CpuSet::allowed().unwrap(), before);
            }
        });
    }
}
