"""PyPI twirp as a client, by what its generator writes: ADDRESS WIRE CASE. It sends protobuf over HTTP/1.1."""

import benchmark_pb2 as pb
from benchmark import PAYLOAD_SIZES, answer, expect, fail, fill, message, payload, run, same, values
from twirp.client import TwirpClient
from twirp.context import Context
from twirp.errors import Errors
from twirp.exceptions import TwirpServerException


class Client(TwirpClient):
    def call(self, method, request, response, prefix="/twirp", **more):
        url = f"{prefix}/rpcbench.{method}"
        return self._make_request(url=url, ctx=Context(), request=request, response_obj=response, timeout=20, **more)


def echo(address, _wire, case):
    request = message(case)
    reply = Client(f"http://{address}").call("Echo/Say", fill(pb.BenchmarkMessage(), request), pb.BenchmarkMessage)
    same("reply", values(reply), answer(request))


def sizes(address, _wire, _case):
    client = Client(f"http://{address}")
    for size in PAYLOAD_SIZES:
        reply = client.call("Payload/Exchange", pb.PayloadMessage(body=payload(size)), pb.PayloadMessage)
        same(f"{size} bytes", reply.body, payload(size))


def errors(address, _wire, _case):
    client = Client(f"http://{address}")
    request = fill(pb.BenchmarkMessage(), message("echo"))
    for method, sent, prefix, code in (
        ("Echo/NoSuchMethod", request, "/twirp", Errors.BadRoute),
        ("NoSuchService/Say", request, "/twirp", Errors.BadRoute),
        ("Echo/Say", request, "/elsewhere", Errors.BadRoute),
        ("Echo/Say", pb.PayloadMessage(body=b"\xff" * 50), "/twirp", Errors.Malformed),
        ("Payload/Exchange", pb.PayloadMessage(body=bytes(5 << 20)), "/twirp", Errors.ResourceExhausted),
    ):
        try:
            client.call(method, sent, pb.BenchmarkMessage, prefix)
        except TwirpServerException as error:
            expect(f"{prefix}/{method}: {error.code} ({error.message}), not {code}", error.code == code)
            expect(f"{prefix}/{method}: from an intermediary", "http_error_from_intermediary" not in (error.meta or {}))
        else:
            fail(f"{prefix}/{method}: answered")


run({"echo": echo, "distinct": echo, "payload": sizes, "errors": errors})
