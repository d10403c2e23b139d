//! How many files and sockets may be open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::HostError;

/// Descriptors kept for everything but the caller's sockets: standard streams, epoll and timer
/// descriptors of every runtime thread, files of `/proc` being read, listeners. In descriptors.
pub const HEADROOM: u64 = 64;

/// Raises the soft limit of open files to the hard limit, and returns it (in descriptors;
/// `u64::MAX` if there is none).
///
/// `needed` is the number of sockets this process will hold open at once; [`HEADROOM`] is added
/// to it. To be called before anything is opened or timed: a run that meets the limit half-way
/// measures the limit.
///
/// # Errors
/// [`HostError::OpenFiles`] if even the hard limit is below `needed` + [`HEADROOM`] (nothing is
/// changed then); [`HostError::Call`] if the kernel refuses the change.
pub fn raise_open_files(needed: u64) -> Result<u64, HostError> {
    let now = getrlimit(Resource::Nofile);
    let hard = enough(now.maximum, needed)?;
    if now.current != now.maximum {
        let raised = Rlimit {
            current: now.maximum,
            maximum: now.maximum,
        };
        setrlimit(Resource::Nofile, raised).map_err(|errno| HostError::Call {
            call: "setrlimit(RLIMIT_NOFILE)",
            source: errno.into(),
            way_out: "compare ulimit -Hn with /proc/sys/fs/nr_open, which caps it",
        })?;
    }
    Ok(hard)
}

/// The hard limit (`None`: unlimited) as a number, if it is enough.
fn enough(hard: Option<u64>, needed: u64) -> Result<u64, HostError> {
    let hard = hard.unwrap_or(u64::MAX);
    if hard < needed.saturating_add(HEADROOM) {
        return Err(HostError::OpenFiles {
            needed,
            headroom: HEADROOM,
            hard,
        });
    }
    Ok(hard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_limit() {
        let hard = raise_open_files(1).unwrap();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current, now.maximum);
        assert_eq!(now.current.unwrap_or(u64::MAX), hard);
    }

    #[test]
    fn headroom_is_part_of_what_is_needed() {
        assert_eq!(enough(Some(564), 500).unwrap(), 564);
        assert!(enough(Some(563), 500).is_err());
        assert_eq!(enough(None, 500).unwrap(), u64::MAX);
    }

    #[test]
    fn a_low_hard_limit_is_an_error_that_says_the_numbers() {
        let text = enough(Some(256), 500).unwrap_err().to_string();
        for part in ["500 sockets", "64 other", "is 256", "ulimit -Hn"] {
            assert!(text.contains(part), "no {part:?} in {text:?}");
        }
    }
}
