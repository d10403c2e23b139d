"""PyPI thrift's TThreadedServer, for one WIRE. Prints `ready ADDRESS` and ends with stdin."""

import sys
import threading

from benchmark import serve
from schema import METHODS, of_wire
from thrift.server.TServer import TThreadedServer
from thrift.Thrift import TMessageType, TProcessor
from thrift.transport.TSocket import TServerSocket


class Processor(TProcessor):
    def process(self, received, answered):
        name, _kind, seqid = received.readMessageBegin()
        arguments, result = METHODS[name]
        request = arguments()
        request.read(received)
        received.readMessageEnd()
        if name == "say":
            request.request.field1 = "OK"
            request.request.field2 = 100
        answered.writeMessageBegin(name, TMessageType.REPLY, seqid)
        result(success=request.request).write(answered)
        answered.writeMessageEnd()
        answered.trans.flush()
        return True


class Factory:
    def __init__(self, kind):
        self.kind = kind

    def getTransport(self, transport):
        return self.kind(transport)

    def getProtocol(self, transport):
        return self.kind(transport)


class Socket(TServerSocket):
    listening = threading.Event()

    def listen(self):
        super().listen()
        self.listening.set()


socket = Socket("127.0.0.1", 0)
transport, protocol = of_wire(sys.argv[1])
server = TThreadedServer(Processor(), socket, Factory(transport), Factory(protocol), daemon=True)
threading.Thread(target=server.serve, daemon=True).start()
socket.listening.wait(20)
serve("127.0.0.1:%d" % socket.handle.getsockname()[1])
