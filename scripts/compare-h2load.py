#!/usr/bin/env python3
"""Compares the gRPC client with h2load (Debian's nghttp2-client) on the same gRPC server: calls per CPU second of the client.

    cargo build --release -p grpc-server -p grpc-client
    scripts/compare-h2load.py [rounds]

h2load sends the same 581 bytes and neither decodes nor compares the replies, so it is a lower bound of what an HTTP/2 client costs and no
fair rival. Rounds are interleaved; each figure is the median with least and greatest.
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / "target" / "release"
SECONDS = 1
# (name, connections, calls at once on each)
SHAPES = [("100 connections", 100, 1), ("10 connections x 10", 10, 10)]


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def h2load(addr, body, connections, streams):
    """Calls per CPU second; h2load takes its CPU from the client's half."""
    command = ["taskset", "-c", str(client_cpu), "h2load", f"--clients={connections}", f"--max-concurrent-streams={streams}",
               f"--duration={SECONDS}", "--warm-up-time=1", "--threads=1", f"--data={body}",
               "--header=content-type: application/grpc", "--header=te: trailers", f"http://{addr}/rpcbench.Echo/Say"]
    before = cpu_of_children()
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cpu_s = cpu_of_children() - before
    counts = next(line for line in out.splitlines() if line.startswith("requests:"))
    failed = int(counts.split(" failed")[0].rsplit(" ", 1)[1])
    if failed:
        sys.exit(f"h2load: {counts}")
    # With a duration h2load reports the calls of the window; its CPU also covers the warm-up, as long as the window.
    rate = next(line for line in out.splitlines() if line.startswith("finished in"))
    return float(rate.split(" req/s")[0].rsplit(" ", 1)[1]) * 2 * SECONDS / cpu_s


def ours(addr, stats, connections, streams, lane):
    command = [BIN / "grpc-client", "-s", addr, "--stats", stats, "-c", str(connections * streams), "--pool", str(connections),
               "-d", f"{SECONDS}s", "--lane", lane, "--output", "json"]
    record = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return 1e6 / record["client"]["cpu_us_per_call"]


def median(values):
    return f"{statistics.median(values):,.0f} [{min(values):,.0f}-{max(values):,.0f}]"


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 6
server = {}
for lane in ("default", "tuned"):
    process = subprocess.Popen([BIN / "grpc-server", "-s", "127.0.0.1:0", "--lane", lane, "--output", "json", "--exit-on-stdin-close"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server[lane] = (process, json.loads(process.stdout.readline())["ready"])
probe = subprocess.run([BIN / "grpc-client", "-s", server["default"][1]["addr"], "--stats", server["default"][1]["stats"], "-n", "1", "-c", "1",
                        "--output", "json"], capture_output=True, text=True, check=True)
client_cpu = json.loads(probe.stdout)["client"]["cpus"][0]
request = (ROOT / "crates/rpc-bench/tests/data/request.bin").read_bytes()
figures = {}
with tempfile.NamedTemporaryFile() as body:
    # gRPC's prefix: not compressed, length.
    body.write(b"\0" + len(request).to_bytes(4, "big") + request)
    body.flush()
    for _ in range(rounds):
        for shape, connections, streams in random.sample(SHAPES, len(SHAPES)):
            ready = server["default"][1]
            figures.setdefault((shape, "h2load"), []).append(h2load(ready["addr"], body.name, connections, streams))
            for lane in ("default", "tuned"):
                ready = server[lane][1]
                value = ours(ready["addr"], ready["stats"], connections, streams, lane)
                figures.setdefault((shape, f"grpc-client {lane}"), []).append(value)
for process, _ in server.values():
    process.stdin.close()
    process.wait()
print("calls per CPU second of the client")
for (shape, name), values in sorted(figures.items()):
    print(f"{shape:20} {name:20} {median(values)}")
