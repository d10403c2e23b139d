#!/usr/bin/env python3
"""Makes the golden bytes of the benchmark's request and reply with Apache's Python implementation, which shares no code with the Rust one.

Needs the Thrift compiler. Run once, in any folder; the bytes are committed, and tests/golden.rs compares the Rust library's with them:

    python3 -m venv .venv/thrift && .venv/thrift/bin/pip install thrift==0.25.0
    .venv/thrift/bin/python crates/thrift-api/tests/make-golden.py
"""

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TType
from thrift.transport.TTransport import TMemoryBuffer

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(__file__).resolve().parent / "data"
TEXT = "许多往事在眼前一幕一幕，变的那麼模糊"
VALUES = {TType.STRING: TEXT, TType.BOOL: True, TType.I32: 100_000, TType.I64: 100_000, TType.LIST: None}


def message_type():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["thrift", "-out", folder, "--gen", "py", str(ROOT / "thrift/benchmark.thrift")], check=True)
        sys.path.insert(0, folder)
        return importlib.import_module("rpcbench.ttypes").BenchmarkMessage


def main():
    kind = message_type()
    message = kind(**{spec[2]: VALUES[spec[1]] for spec in kind.thrift_spec if spec})
    DATA.mkdir(parents=True, exist_ok=True)
    for name in ("request", "reply"):
        for protocol, codec in (("binary", TBinaryProtocol), ("compact", TCompactProtocol)):
            buffer = TMemoryBuffer()
            message.write(codec(buffer))
            path = DATA / f"{name}.{protocol}.bin"
            path.write_bytes(buffer.getvalue())
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
        message.field1, message.field2 = "OK", 100


if __name__ == "__main__":
    main()
