"""curl, with the four wires and every error of the specification that a service without errors of its own can give: ADDRESS WIRE CASE."""

import base64
import json
import subprocess

import benchmark_pb2 as pb
from benchmark import PAYLOAD_SIZES, answer, expect, fill, from_json, message, payload, run, same, values
from google.protobuf import json_format

TYPES = {"protobuf": "application/protobuf", "json": "application/json"}


def curl(address, wire, path, body=b"", content_type=None, method="POST"):
    """Status, content type and body of the answer."""
    options = ["--silent", "--show-error", "--max-time", "20", "--noproxy", "*", "--request", method]
    options += ["--http2-prior-knowledge"] if wire.startswith("h2c/") else ["--http1.1"]
    # An empty value removes what curl would send by itself.
    options += ["--header", f"Content-Type: {content_type}" if content_type else "Content-Type:"]
    if method == "POST":
        options += ["--data-binary", "@-"]
    options += ["--write-out", "\n%{http_code} %{http_version} %{content_type}", f"http://{address}{path}"]
    end = subprocess.run(["curl", *options], input=body, capture_output=True, timeout=30)
    expect(f"curl {path} ended with {end.returncode}: {end.stderr.decode().strip()}", end.returncode == 0)
    answered, _, last = end.stdout.rpartition(b"\n")
    status, version, kind = last.decode().split(" ", 2)
    same("HTTP version", version, "2" if wire.startswith("h2c/") else "1.1")
    return int(status), kind, answered


def call(address, wire, method, body):
    kind = TYPES[wire.split("/")[1]]
    status, answered_kind, answered = curl(address, wire, f"/twirp/rpcbench.{method}", body, kind)
    expect(f"{method}: status {status}: {answered[:200]}", status == 200)
    same(f"{method}: content type", answered_kind, kind)
    return answered


def encode(wire, source):
    return source.SerializeToString() if wire.endswith("/protobuf") else json_format.MessageToJson(source).encode()


def decode(wire, kind, body):
    return kind.FromString(body) if wire.endswith("/protobuf") else json_format.Parse(body, kind())


def echo(address, wire, case):
    request = message(case)
    body = call(address, wire, "Echo/Say", encode(wire, fill(pb.BenchmarkMessage(), request)))
    same("reply", values(decode(wire, pb.BenchmarkMessage, body)), answer(request))


def sizes(address, wire, _case):
    for size in PAYLOAD_SIZES:
        body = call(address, wire, "Payload/Exchange", encode(wire, pb.PayloadMessage(body=payload(size))))
        same(f"{size} bytes", decode(wire, pb.PayloadMessage, body).body, payload(size))


def json_leniency(address, wire, _case):
    """What the JSON of protobuf lets a sender do."""
    request = message("distinct")
    sent = {**request, "field22": str(request["field22"]), "field5": [str(n) for n in request["field5"]]}
    for what, body in (
        ("64-bit numbers as texts", sent),
        ("64-bit numbers as numbers", {**sent, "field22": request["field22"], "field5": request["field5"]}),
        ("32-bit numbers as texts", {**sent, "field3": str(request["field3"])}),
        ("an unknown field", {**sent, "noSuchField": {"a": [1, None]}}),
    ):
        reply = json.loads(call(address, wire, "Echo/Say", json.dumps(body).encode()))
        same(what, reply, {**answer(sent)})
    unpadded = base64.urlsafe_b64encode(b"\xff\xfe\xfd\xfc").rstrip(b"=").decode()
    reply = json.loads(call(address, wire, "Payload/Exchange", json.dumps({"body": unpadded}).encode()))
    same("base64 for URLs, unpadded", reply, {"body": base64.b64encode(b"\xff\xfe\xfd\xfc").decode()})


def errors(address, wire, _case):
    say, exchange = "/twirp/rpcbench.Echo/Say", "/twirp/rpcbench.Payload/Exchange"
    proto, text_json = TYPES["protobuf"], TYPES["json"]
    good = fill(pb.BenchmarkMessage(), message("echo")).SerializeToString()
    for what, path, body, kind, method, code, status in (
        ("GET", say, b"", None, "GET", "bad_route", 404),
        ("PUT", say, b"", proto, "PUT", "bad_route", 404),
        ("unknown method", "/twirp/rpcbench.Echo/NoSuch", good, proto, "POST", "bad_route", 404),
        ("method in other case", "/twirp/rpcbench.Echo/say", good, proto, "POST", "bad_route", 404),
        ("unknown service", "/twirp/rpcbench.NoSuch/Say", good, proto, "POST", "bad_route", 404),
        ("no package", "/twirp/Echo/Say", good, proto, "POST", "bad_route", 404),
        ("no prefix", "/rpcbench.Echo/Say", good, proto, "POST", "bad_route", 404),
        ("root", "/", good, proto, "POST", "bad_route", 404),
        ("bad content type", say, good, "text/plain", "POST", "bad_route", 404),
        ("no content type", say, good, None, "POST", "bad_route", 404),
        ("half a message", say, good[:300], proto, "POST", "malformed", 400),
        ("no JSON", say, b"{", text_json, "POST", "malformed", 400),
        ("JSON of another shape", say, b"[1]", text_json, "POST", "malformed", 400),
        ("text where a number stands", say, b'{"field1": "", "field2": "x", "field3": 1}', text_json, "POST", "malformed", 400),
        ("protobuf as JSON", say, good, text_json, "POST", "malformed", 400),
        ("5 MiB", exchange, pb.PayloadMessage(body=bytes(5 << 20)).SerializeToString(), proto, "POST", "resource_exhausted", 429),
    ):
        got, got_kind, answered = curl(address, wire, path, body, kind, method)
        same(f"{what}: status", got, status)
        same(f"{what}: content type", got_kind, "application/json")
        error = from_json(what, answered)
        same(f"{what}: code", error.get("code"), code)
        expect(f"{what}: no message in {error}", bool(error.get("msg")))
        meta = error.get("meta", {})
        expect(f"{what}: meta {meta}", all(isinstance(value, str) for value in meta.values()))


run({"echo": echo, "distinct": echo, "payload": sizes, "json_leniency": json_leniency, "errors": errors})
