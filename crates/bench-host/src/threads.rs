//! Threads that serve one connection each, in thousands.

use std::thread::{Builder, JoinHandle};

use crate::HostError;

/// Stack of such a thread, in bytes: std's 2 MiB would be 10 GB of address space for five thousand. Only what is used takes memory.
pub const STACK_BYTES: usize = 256 * 1024;

/// Starts a thread for one connection. It inherits the CPUs of the calling thread.
///
/// # Errors
/// [`HostError::Call`] when the system gives no more threads.
pub fn start_connection_thread(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, HostError> {
    Builder::new()
        .name(name)
        .stack_size(STACK_BYTES)
        .spawn(body)
        .map_err(|source| HostError::Call {
            call: "starting a thread",
            source,
            way_out: "a connection takes one here: fewer connections, or raise the limits: ulimit -u, kernel.threads-max, \
                      kernel.pid_max, vm.max_map_count and the container's pids.max",
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuSet;

    #[test]
    fn it_runs_where_its_starter_may_run() {
        let (parent, child) = std::thread::spawn(|| {
            let one = CpuSet::from_ids([CpuSet::allowed().unwrap().ids()[0]]).unwrap();
            one.pin_thread().unwrap();
            let (tell, told) = std::sync::mpsc::channel();
            let thread = start_connection_thread("test".to_owned(), move || tell.send(CpuSet::allowed().unwrap()).unwrap()).unwrap();
            thread.join().unwrap();
            (one, told.recv().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(parent, child);
    }
}
