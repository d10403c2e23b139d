#!/bin/sh
# Builds each stack by itself in release, sweeps, prints the tables and writes results/<date>-<label>-<n>/.
#   scripts/run-all.sh                       the quick sweep, about five minutes
#   scripts/run-all.sh rpcx --label laptop   the full grid
#   scripts/run-all.sh --help                all options
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
exec cargo run --release --manifest-path "$root/Cargo.toml" -p rpc-bench -- sweep "$@"
