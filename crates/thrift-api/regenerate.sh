#!/usr/bin/env bash
# Writes src/benchmark.rs from thrift/benchmark.thrift with the Thrift compiler (Debian: apt-get install thrift-compiler, 0.17.0).
# With a folder as argument, writes it there instead.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
out="${1:-$root/crates/thrift-api/src}"
thrift -out "$out" --gen rs "$root/thrift/benchmark.thrift"
code="$(cat "$out/benchmark.rs")"
printf '// Made from thrift/benchmark.thrift by crates/thrift-api/regenerate.sh: thrift -out DIR --gen rs thrift/benchmark.thrift\n%s\n' "$code" >"$out/benchmark.rs"
