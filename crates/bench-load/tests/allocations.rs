//! The measured loop allocates nothing per call. Needs a build that counts:
//! `cargo test -p bench-load --features count-allocations --test allocations`.

use bench_core::allocator::allocations;
use bench_host::CpuSet;
use bench_load::null;

/// Allocations while the loop makes this many calls, starting the thread and its runtime included.
fn allocations_of(calls: u64) -> u64 {
    let before = allocations();
    null::run(calls, &CpuSet::allowed().unwrap()).unwrap();
    allocations() - before
}

#[test]
fn a_million_more_calls_allocate_no_more() {
    allocations_of(1_000);
    let (few, many) = (allocations_of(1_000), allocations_of(1_001_000));
    // Lazily made parts of a thread may differ by a handful; one allocation in a thousand calls would be a thousand.
    assert!(many <= few + 20, "{few} allocations for 1,000 calls, {many} for 1,001,000");
}
