"""PyPI twirp as a server, under uvicorn. Prints `ready ADDRESS` and ends with stdin."""

import socket
import sys
import threading

import benchmark_pb2 as pb
import uvicorn
from benchmark import serve
from twirp.asgi import TwirpASGIApp
from twirp.base import Endpoint
from twirp.server import TwirpServer


class Echo:
    def Say(self, _context, request):
        request.field1 = "OK"
        request.field2 = 100
        return request


class Payload:
    def Exchange(self, _context, request):
        return request


def service(name, method, implementation, message):
    """What the generator writes."""

    class Server(TwirpServer):
        def __init__(self):
            super().__init__(service=implementation)
            self._prefix = f"/twirp/rpcbench.{name}"
            function = getattr(implementation, method)
            self._endpoints = {method: Endpoint(f"rpcbench.{name}", method, function, message, message)}

    return Server()


app = TwirpASGIApp(max_receive_message_length=8 << 20)
app.add_service(service("Echo", "Say", Echo(), pb.BenchmarkMessage))
app.add_service(service("Payload", "Exchange", Payload(), pb.PayloadMessage))
listener = socket.create_server(("127.0.0.1", 0))
# Inherited by what it accepts; asyncio sets it only on sockets that it opened.
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
threading.Thread(target=server.run, args=([listener],), daemon=True).start()
serve("127.0.0.1:%d" % listener.getsockname()[1])
sys.exit(0)
