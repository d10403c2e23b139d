#!/usr/bin/env python3
"""Makes the golden bytes of the benchmark's request and reply with Google's protobuf implementation, which shares no code with prost.

Run once, in any folder; the bytes are committed, and crates/rpc-bench/tests/golden.rs compares prost's with them:

    python3 -m venv .venv/golden && .venv/golden/bin/pip install protobuf grpcio-tools
    .venv/golden/bin/python scripts/make-golden.py
"""

import importlib
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/rpc-bench/tests/data"
TEXT = "许多往事在眼前一幕一幕，变的那麼模糊"
INTEGER = 100_000


def stubs():
    with tempfile.TemporaryDirectory() as folder:
        code = protoc.main(["protoc", f"-I{ROOT / 'proto'}", f"--python_out={folder}", "benchmark.proto"])
        if code != 0:
            sys.exit(f"protoc failed with code {code}")
        sys.path.insert(0, folder)
        return importlib.import_module("benchmark_pb2")


def request(message):
    """Fills every field by its type, as rpcx-benchmark did: strings, bools and integers; repeated ones stay empty."""
    for field in message.DESCRIPTOR.fields:
        if field.is_repeated:
            continue
        values = {field.CPPTYPE_STRING: TEXT, field.CPPTYPE_BOOL: True}
        setattr(message, field.name, values.get(field.cpp_type, INTEGER))
    return message


def main():
    message = request(stubs().BenchmarkMessage())
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / "request.bin").write_bytes(message.SerializeToString(deterministic=True))
    message.field1 = "OK"
    message.field2 = 100
    (DATA / "reply.bin").write_bytes(message.SerializeToString(deterministic=True))
    for path in sorted(DATA.glob("*.bin")):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
