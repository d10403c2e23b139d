//! The allocator of every process of the suite: a fairness decision, see METHODOLOGY.md.

/// mimalloc as it is.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "count-allocations")]
pub use counting::allocations;

/// mimalloc behind a counter, for builds that ask how much a call allocates (`--features count-allocations`).
#[cfg(feature = "count-allocations")]
mod counting {
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::atomic::{AtomicU64, Ordering};

    use mimalloc::MiMalloc;

    static COUNT: AtomicU64 = AtomicU64::new(0);

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    struct Counting;

    // SAFETY: every request goes to mimalloc unchanged.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the caller's promise is passed on.
            unsafe { MiMalloc.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: the memory came from mimalloc with this layout.
            unsafe { MiMalloc.dealloc(memory, layout) }
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            COUNT.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the memory came from mimalloc with this layout.
            unsafe { MiMalloc.realloc(memory, layout, size) }
        }
    }

    /// Allocations and reallocations of the whole process so far.
    pub fn allocations() -> u64 {
        COUNT.load(Ordering::Relaxed)
    }
}
