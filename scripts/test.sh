#!/usr/bin/env bash
# All tests, in the dev profile (which generates the same code as release): no release build. Arguments go to the last `cargo test`:
#   scripts/test.sh
#   scripts/test.sh delay
#   scripts/test.sh --test boundary -- signals
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Foreign programs for the interop tests; what this machine lacks is skipped by name, with CI set it is a failure.
interop/setup.sh
# Builds of their own: they count allocations.
if [ $# -eq 0 ]; then
  cargo build -p tcp-server -p tcp-client --features bench-core/count-allocations
  cargo test -p bench-load --features count-allocations --test allocations
fi
# Tests at the boundary start the binaries as a user does.
cargo build --workspace --bins
RPC_BENCH_DEV_BINARIES="${CARGO_TARGET_DIR:-$PWD/target}/debug"
export RPC_BENCH_DEV_BINARIES
exec cargo test --workspace "$@"
