"""An independent client of raw TCP: ADDRESS WIRE CASE."""

import random
import struct
import time

from benchmark import PAYLOAD_SIZES, REPLY_BYTES, REQUEST_BYTES, answer, expect, fail, message, payload, run, same
from frames import LIMIT, MUX, Refused, codec, connect, frame, mux_frame, read_frame, read_mux_frame


def echo(address, wire, case):
    encode, decode = codec(wire)
    request = message(case)
    stream = connect(address)
    for _ in range(3):
        body = encode(request)
        stream.sendall(frame(body))
        reply = read_frame(stream)
        same("reply", decode(reply), answer(request))
        if wire.endswith("/protobuf") and case == "echo":
            same("bytes of the request", len(body), REQUEST_BYTES)
            same("bytes of the reply", len(reply), REPLY_BYTES)


def sizes(address, _wire, _case):
    stream = connect(address)
    for size in PAYLOAD_SIZES + [LIMIT]:
        stream.sendall(frame(payload(size)))
        same(f"{size} bytes", read_frame(stream), payload(size))


def in_pieces(address, wire, _case):
    encode, decode = codec(wire)
    request = message("distinct")
    stream = connect(address)
    whole = frame(encode(request))
    for start in range(0, len(whole), 97):
        stream.sendall(whole[start : start + 97])
        time.sleep(0.001)
    same("reply", decode(read_frame(stream)), answer(request))


def refused(what, stream, parts):
    try:
        got = read_frame(stream)
    except Refused as refusal:
        expect(f"{what}: refused with '{refusal}'", all(part in str(refusal) for part in parts))
    else:
        fail(f"{what}: {len(got)} bytes came back instead of a refusal")
    try:
        same(f"{what}: after the refusal", stream.recv(1), b"")
    except ConnectionResetError:
        pass


def oversize(address, wire, _case):
    stream = connect(address)
    # Announced, never sent: it must be refused by its length.
    stream.sendall(struct.pack(">I", LIMIT + 1))
    refused("8 MiB + 1", stream, [str(LIMIT)])


def malformed(address, wire, _case):
    stream = connect(address)
    stream.sendall(frame(codec(wire)[0](message("echo"))[:300]))
    refused("half a message", stream, ["cannot decode"])
    stream = connect(address)
    stream.sendall(struct.pack(">IQ", 12 | MUX, 1) + b"body")
    refused("the multiplexed form", stream, [])


def half_closed(address, wire, _case):
    # The end of a stream between frames is no error, and a call that came before it is answered.
    encode, decode = codec(wire)
    stream = connect(address)
    stream.sendall(frame(encode(message("distinct"))))
    stream.shutdown(1)
    same("reply", decode(read_frame(stream)), answer(message("distinct")))
    same("end", stream.recv(1), b"")


def mux(address, wire, _case):
    opaque = wire.endswith("/opaque")
    encode, decode = (lambda body: body, lambda body: body) if opaque else codec(wire)
    requests = {}
    for i in range(200):
        request_id = [0, 2**64 - 1, 1][i] if i < 3 else random.getrandbits(64)
        requests[request_id] = payload(i * 37) if opaque else {**message("distinct"), "field3": i, "field4": f"call {i}"}
    stream = connect(address)
    stream.sendall(b"".join(mux_frame(request_id, encode(request)) for request_id, request in requests.items()))
    while requests:
        request_id, reply = read_mux_frame(stream)
        expect(f"reply to request {request_id}, which is not under way", request_id in requests)
        request = requests.pop(request_id)
        same(f"request {request_id}", decode(reply), request if opaque else answer(request))


def mux_malformed(address, _wire, _case):
    stream = connect(address)
    stream.sendall(struct.pack(">I", 4 | MUX) + b"four")
    refused("a frame without an id", stream, [])


run(
    {
        "echo": echo,
        "distinct": echo,
        "payload": sizes,
        "in_pieces": in_pieces,
        "oversize": oversize,
        "malformed": malformed,
        "half_closed": half_closed,
        "many_at_once": mux,
        "without_id": mux_malformed,
    }
)
