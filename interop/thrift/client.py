"""PyPI thrift, Apache's library, as a client: ADDRESS WIRE CASE."""

from socket import SHUT_WR

from benchmark import PAYLOAD_SIZES, answer, expect, fail, message, payload, run, same
from schema import METHODS, BenchmarkMessage, of_struct, of_wire, struct, to_struct
from thrift.Thrift import TApplicationException, TMessageType, TType
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TTransportException


class Client:
    def __init__(self, address, wire):
        host, port = address.rsplit(":", 1)
        self.socket = TSocket(host, int(port))
        self.socket.setTimeout(20_000)
        transport, protocol = of_wire(wire)
        self.transport = transport(self.socket)
        self.protocol = protocol(self.transport)
        self.seqid = 0
        self.transport.open()

    def send(self, method, arguments, kind=TMessageType.CALL):
        self.seqid += 1
        self.protocol.writeMessageBegin(method, kind, self.seqid)
        arguments.write(self.protocol)
        self.protocol.writeMessageEnd()
        self.transport.flush()

    def receive(self, method, result):
        name, kind, seqid = self.protocol.readMessageBegin()
        same("method of the reply", name, method)
        same("seqid of the reply", seqid, self.seqid)
        if kind == TMessageType.EXCEPTION:
            exception = TApplicationException()
            exception.read(self.protocol)
            self.protocol.readMessageEnd()
            raise exception
        same("kind of the reply", kind, TMessageType.REPLY)
        result.read(self.protocol)
        self.protocol.readMessageEnd()
        expect("the reply has no success", result.success is not None)
        return result.success

    def call(self, method, request):
        arguments, result = METHODS[method]
        self.send(method, arguments(request=request))
        return self.receive(method, result())


def echo(address, wire, case):
    client = Client(address, wire)
    request = message(case)
    for _ in range(3):
        same("reply", of_struct(client.call("say", to_struct(request))), answer(request))


def sizes(address, wire, _case):
    client = Client(address, wire)
    for size in PAYLOAD_SIZES:
        same(f"{size} bytes", client.call("exchange", payload(size)), payload(size))


def fails(what, client, method, arguments, *kinds):
    client.send(method, arguments)
    try:
        client.receive(method, METHODS["say"][1]())
    except TApplicationException as error:
        expect(f"{what}: type {error.type} ({error.message}), not {kinds}", error.type in kinds)
    else:
        fail(f"{what}: answered")


def errors(address, wire, _case):
    nothing = struct("nothing")
    fails("unknown method", Client(address, wire), "no_such_method", nothing(), TApplicationException.UNKNOWN_METHOD)
    fails(
        "a message without its required fields",
        Client(address, wire),
        "say",
        METHODS["say"][0](request=BenchmarkMessage(field9="only this")),
        # The Rust library says UNKNOWN where Apache's others say PROTOCOL_ERROR.
        TApplicationException.PROTOCOL_ERROR,
        TApplicationException.UNKNOWN,
    )
    echo(address, wire, "echo")


def unknown_field(address, wire, _case):
    """A newer schema's field is skipped."""
    known = (field[:4] for field in BenchmarkMessage.thrift_spec if field)
    newer_message = struct("BenchmarkMessage", *known, (9999, TType.STRING, "newer", "UTF8"))
    newer = struct("say_args", (1, TType.STRUCT, "request", [newer_message, newer_message.thrift_spec]))
    client = Client(address, wire)
    request = message("distinct")
    client.send("say", newer(request=newer_message(newer="text", **request)))
    same("reply", of_struct(client.receive("say", METHODS["say"][1]())), answer(request))


def other_transport(address, wire, _case):
    """Buffered and framed do not understand each other: the connection must end, and the server serve on."""
    transport, protocol = wire.split("/")
    other = {"tcp+buffered": "tcp+framed", "tcp+framed": "tcp+buffered"}[transport]
    client = Client(address, f"{other}/{protocol}")
    client.send("say", METHODS["say"][0](request=to_struct(message("echo"))))
    # What it takes for a length may be more than was sent.
    client.socket.handle.shutdown(SHUT_WR)
    try:
        client.receive("say", METHODS["say"][1]())
    except (TTransportException, TApplicationException) as error:
        timed_out = isinstance(error, TTransportException) and error.type == TTransportException.TIMED_OUT
        expect("the server neither answered nor closed the connection", not timed_out)
    else:
        fail("a message of the other transport was answered")
    echo(address, wire, "echo")


run(
    {
        "echo": echo,
        "distinct": echo,
        "payload": sizes,
        "errors": errors,
        "unknown_field": unknown_field,
        "other_transport": other_transport,
    }
)
