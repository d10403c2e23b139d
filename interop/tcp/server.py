"""An independent server of raw TCP, for one WIRE. Prints `ready ADDRESS` and ends with stdin."""

import select
import socket
import sys
import threading

from benchmark import answer, serve
from frames import codec, frame, mux_frame, read_frame, read_mux_frame

wire = sys.argv[1]
opaque = wire.endswith("/opaque")
encode, decode = (None, None) if opaque else codec(wire)


def served(body):
    return body if opaque else encode(answer(decode(body)))


def one_at_a_time(stream):
    while True:
        stream.sendall(frame(served(read_frame(stream))))


def many_at_once(stream):
    while True:
        calls = [read_mux_frame(stream)]
        while select.select([stream], [], [], 0.002)[0]:
            calls.append(read_mux_frame(stream))
        # The last first: replies may come in any order.
        stream.sendall(b"".join(mux_frame(request_id, served(body)) for request_id, body in reversed(calls)))


def connection(stream):
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        (many_at_once if wire.startswith("tcp+mux/") else one_at_a_time)(stream)
    except (EOFError, ConnectionError):
        pass


def accept(listener):
    while True:
        threading.Thread(target=connection, args=(listener.accept()[0],), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=accept, args=(listener,), daemon=True).start()
serve("127.0.0.1:%d" % listener.getsockname()[1])
