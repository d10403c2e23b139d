"""PyPI thriftpy2, which reads thrift/benchmark.thrift at run time, as a client: ADDRESS WIRE CASE."""

from pathlib import Path

import thriftpy2
from benchmark import FIELDS, PAYLOAD_SIZES, answer, message, payload, run, same
from thriftpy2.protocol import TBinaryProtocolFactory, TCompactProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.transport import TBufferedTransportFactory, TFramedTransportFactory

schema = thriftpy2.load(str(Path(__file__).parents[2] / "thrift/benchmark.thrift"), module_name="benchmark_thrift")


def connect(address, wire):
    host, port = address.rsplit(":", 1)
    return make_client(
        schema.Bench,
        host,
        int(port),
        proto_factory=TBinaryProtocolFactory() if wire.endswith("/binary") else TCompactProtocolFactory(),
        trans_factory=TFramedTransportFactory() if "+framed/" in wire else TBufferedTransportFactory(),
        timeout=20_000,
    )


def echo(address, wire, case):
    request = message(case)
    client = connect(address, wire)
    sent = {name: value for name, value in request.items() if value != []}
    for _ in range(3):
        reply = client.say(schema.BenchmarkMessage(**sent))
        got = {f"field{number}": getattr(reply, f"field{number}") for number, _ in FIELDS}
        same("reply", {**got, "field5": list(got["field5"] or [])}, answer(request))


def sizes(address, wire, _case):
    client = connect(address, wire)
    for size in PAYLOAD_SIZES:
        got = client.exchange(payload(size))
        # What happens to be UTF-8 comes back as a text.
        same(f"{size} bytes", got.encode() if isinstance(got, str) else got, payload(size))


run({"echo": echo, "distinct": echo, "payload": sizes})
