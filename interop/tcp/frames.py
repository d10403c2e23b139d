"""The frames of raw TCP, from their description in crates/tcp-api: nothing here comes from the suite's code."""

import json
import socket
import struct

import benchmark_pb2 as pb
import msgpack
from benchmark import FIELDS, fill, from_json, values

REFUSAL, MUX = 1 << 31, 1 << 30
LIMIT = 8 * 1024 * 1024
NAMES = [f"field{number}" for number, _ in FIELDS]


class Refused(Exception):
    """The other side refused, with these words."""


def receive(stream, size):
    received = bytearray()
    while len(received) < size:
        piece = stream.recv(min(size - len(received), 1 << 20))
        if not piece:
            raise EOFError(f"the connection ended after {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


def read_frame(stream):
    (length,) = struct.unpack(">I", receive(stream, 4))
    if length & REFUSAL:
        raise Refused(receive(stream, length & ~REFUSAL).decode())
    if length & MUX:
        raise ValueError("a frame of the multiplexed form")
    return receive(stream, length)


def read_mux_frame(stream):
    (length,) = struct.unpack(">I", receive(stream, 4))
    if length & REFUSAL:
        raise Refused(receive(stream, length & ~REFUSAL).decode())
    if not length & MUX:
        raise ValueError("a frame of the plain form")
    body = receive(stream, length & ~MUX)
    return struct.unpack(">Q", body[:8])[0], body[8:]


def frame(body):
    return struct.pack(">I", len(body)) + body


def mux_frame(request_id, body):
    return struct.pack(">IQ", (len(body) + 8) | MUX, request_id) + body


def connect(address):
    host, port = address.rsplit(":", 1)
    stream = socket.create_connection((host, int(port)), timeout=20)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def to_protobuf(message):
    return fill(pb.BenchmarkMessage(), message).SerializeToString()


def of_protobuf(body):
    return values(pb.BenchmarkMessage.FromString(body))


def to_json(message):
    return json.dumps(message, ensure_ascii=False).encode()


def of_json(body):
    return from_json("body", body)


def to_msgpack(message):
    # A struct is an array of its fields in the schema's order.
    return msgpack.packb([message[name] for name in NAMES])


def of_msgpack(body):
    return dict(zip(NAMES, msgpack.unpackb(body), strict=True))


CODECS = {"protobuf": (to_protobuf, of_protobuf), "json": (to_json, of_json), "msgpack": (to_msgpack, of_msgpack)}


def codec(wire):
    return CODECS[wire.split("/")[1]]
