//! The allocator of every process of the suite: a fairness decision, see METHODOLOGY.md.

/// jemalloc as it is. Without it (`--features system-allocator`) Rust takes the system's.
#[cfg(not(any(feature = "count-allocations", feature = "system-allocator")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Allocations and reallocations of the whole process so far; `None` in a build that does not count them (`--features count-allocations`).
pub fn allocations() -> Option<u64> {
    #[cfg(feature = "count-allocations")]
    return Some(counting::COUNT.load(std::sync::atomic::Ordering::Relaxed));
    #[cfg(not(feature = "count-allocations"))]
    None
}

/// jemalloc behind a counter, for builds that ask how often a call allocates.
#[cfg(feature = "count-allocations")]
mod counting {
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::atomic::{AtomicU64, Ordering};

    use tikv_jemallocator::Jemalloc;

    pub static COUNT: AtomicU64 = AtomicU64::new(0);

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    struct Counting;

    // SAFETY: every request goes to jemalloc unchanged.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the caller's promise is passed on.
            unsafe { Jemalloc.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: the memory came from jemalloc with this layout.
            unsafe { Jemalloc.dealloc(memory, layout) }
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            COUNT.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the memory came from jemalloc with this layout.
            unsafe { Jemalloc.realloc(memory, layout, size) }
        }
    }
}
