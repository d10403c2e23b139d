#!/usr/bin/env bash
# Installs the foreign programs of the interop tests, at pinned versions, into folders that git ignores. Quick when nothing has changed.
# What a machine lacks is said in one line and the tests that need it are skipped; with CI set it is installed by apt, or is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

CI=${CI:-}
GO_PACKAGES=/usr/share/gocode/src/google.golang.org/grpc

lacks() {
  if [ -n "$CI" ] && [ "${2:-}" != optional ]; then
    echo "interop: $1" >&2
    exit 1
  fi
  echo "interop: $1: skipped" >&2
}

# Whether what is in folder $1 was made from these files.
stamp_of() { cat "$@" setup.sh | sha256sum | cut -d' ' -f1; }
is_made() { [ -f "$1/stamp" ] && [ "$(cat "$1/stamp")" = "$2" ]; }

has_python() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
has_node() { command -v node >/dev/null && command -v npm >/dev/null; }
has_go() { command -v go >/dev/null && command -v protoc-gen-go >/dev/null && [ -d "$GO_PACKAGES" ]; }

install_what_is_missing() {
  local missing=() as_root=()
  has_python || missing+=(python3 python3-venv)
  has_node || missing+=(nodejs npm)
  command -v curl >/dev/null || missing+=(curl)
  has_go || missing+=(golang-go golang-google-grpc-dev golang-goprotobuf-dev)
  if [ ${#missing[@]} -eq 0 ] || ! command -v apt-get >/dev/null; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || return 0
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

python_peers() {
  local stamp
  stamp=$(stamp_of requirements.txt ../proto/benchmark.proto)
  if is_made .venv-peers "$stamp" && .venv-peers/bin/python -c '' 2>/dev/null; then return; fi
  rm -rf .venv-peers
  python3 -m venv .venv-peers
  .venv-peers/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements.txt
  mkdir .venv-peers/generated
  .venv-peers/bin/python -m grpc_tools.protoc -I ../proto --python_out=.venv-peers/generated \
    --grpc_python_out=.venv-peers/generated benchmark.proto
  echo "$stamp" >.venv-peers/stamp
}

# The reference of bench-stats: by itself, so that a Python without wheels of scipy keeps the peers.
scipy() {
  local stamp
  stamp=$(stamp_of requirements-scipy.txt)
  if is_made .venv-scipy "$stamp" && .venv-scipy/bin/python -c '' 2>/dev/null; then return; fi
  rm -rf .venv-scipy
  python3 -m venv .venv-scipy
  .venv-scipy/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r requirements-scipy.txt
  echo "$stamp" >.venv-scipy/stamp
}

node_peers() {
  local stamp
  stamp=$(stamp_of package.json package-lock.json)
  if is_made node_modules "$stamp"; then return; fi
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  echo "$stamp" >node_modules/stamp
}

go_peers() {
  local stamp
  stamp=$(stamp_of ../proto/benchmark.proto grpc/go/rpcbench.go grpc/go/*/main.go)
  if is_made .go "$stamp"; then return; fi
  rm -rf .go
  mkdir -p .go/src/rpcbench
  .venv-peers/bin/python -m grpc_tools.protoc -I ../proto --go_out=plugins=grpc,Mbenchmark.proto=rpcbench:.go/src/rpcbench benchmark.proto
  cp grpc/go/rpcbench.go .go/src/rpcbench/
  for program in client server; do
    CGO_ENABLED=0 GO111MODULE=off GOPATH="$PWD/.go:/usr/share/gocode" GOCACHE="$PWD/.go/cache" go build -o ".go/grpc-$program" "./grpc/go/$program"
  done
  rm -rf .go/cache
  echo "$stamp" >.go/stamp
}

# Each by a call of its own, so that what fails in one (no network, for example) does not end the others.
case ${1:-all} in
  python) python_peers; exit ;;
  scipy) scipy; exit ;;
  node) node_peers; exit ;;
  go) go_peers; exit ;;
esac

if [ -n "$CI" ]; then install_what_is_missing; fi
if has_python; then
  ./setup.sh python || lacks "the peers in Python cannot be installed"
  ./setup.sh scipy || lacks "scipy cannot be installed"
else
  lacks "no python3 with venv for the peers in Python and for scipy"
fi
if has_node; then
  ./setup.sh node || lacks "the peers in JavaScript cannot be installed"
else
  lacks "no node and npm for the peers in JavaScript"
fi
if ! command -v curl >/dev/null; then lacks "no curl"; fi
if has_go && [ -f .venv-peers/stamp ]; then
  ./setup.sh go || lacks "the peers in Go cannot be built"
else
  lacks "no golang-go, golang-google-grpc-dev and golang-goprotobuf-dev for the peers in Go" optional
fi
