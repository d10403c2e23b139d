//! The one error type: which file or call failed, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::cpus::{CpuSet, MAX_CPUS};

/// Why the operating system could not be asked, or would not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file of `/proc` or `/sys` could not be read.
    #[error("cannot read {}: {source} (is /proc mounted and readable here?)", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },

    /// A file was read but does not hold what it should.
    #[error("{} has no readable {wanted}: not a Linux kernel's file, or a container's imitation of one", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What was looked for in it.
        wanted: &'static str,
    },

    /// A system call failed.
    #[error("{call} failed: {source} ({way_out})")]
    Call {
        /// The call with its main argument.
        call: &'static str,
        /// What the kernel answered.
        source: io::Error,
        /// What to do about it.
        way_out: &'static str,
    },

    /// A text is not a set of CPUs.
    #[error("cannot read {text:?} as a set of CPUs: write numbers below {MAX_CPUS} and ranges, such as 0-3,5, or all")]
    CpuList {
        /// The text as given.
        text: String,
    },

    /// Some of the CPUs asked for may not be used.
    #[error(
        "may not run on CPU {refused} (of {asked} asked for): this thread has {allowed}; choose among those, \
         or widen the affinity (taskset -c) or the container's cpuset"
    )]
    CpusRefused {
        /// The whole set asked for.
        asked: CpuSet,
        /// Those of it that were refused.
        refused: CpuSet,
        /// What the thread was allowed when it asked.
        allowed: CpuSet,
    },

    /// The hard limit of open files is too low for the run.
    #[error(
        "{needed} sockets and {headroom} other files are needed, but the hard limit of open files is {hard}: \
         use fewer connections, or raise it (ulimit -Hn shows it; limits.conf, LimitNOFILE= or --ulimit nofile= set it)"
    )]
    OpenFiles {
        /// Descriptors the caller asked for.
        needed: u64,
        /// Descriptors kept for everything else.
        headroom: u64,
        /// The hard limit, in descriptors.
        hard: u64,
    },
}

/// Reads a whole small file of `/proc` or `/sys`.
pub(crate) fn read_file(path: &str) -> Result<String, HostError> {
    std::fs::read_to_string(path).map_err(|source| HostError::Read { path: path.into(), source })
}

/// The error for a file without the thing looked for.
pub(crate) fn missing(path: impl AsRef<Path>, wanted: &'static str) -> HostError {
    HostError::Content {
        path: path.as_ref().to_owned(),
        wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named() {
        let text = read_file("/proc/no-such-file").unwrap_err().to_string();
        assert!(text.starts_with("cannot read /proc/no-such-file: "), "{text}");
    }
}
