"""What Apache's compiler would generate for thrift/benchmark.thrift, made at run time: the tests need no compiler."""

from benchmark import FIELDS
from thrift.protocol.TBase import TBase
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TType
from thrift.transport.TTransport import TBufferedTransport, TFramedTransport

KINDS = {
    "s": (TType.STRING, "UTF8"),
    "b": (TType.BOOL, None),
    "i": (TType.I32, None),
    "l": (TType.I64, None),
    "r": (TType.LIST, (TType.I64, None, False)),
}


class Struct(TBase):
    def __init__(self, **values):
        for field in self.thrift_spec:
            if field:
                setattr(self, field[2], values.get(field[2]))


def struct(name, *fields):
    """`fields`: number, type, name, arguments of the type."""
    spec = [None] * (max((field[0] for field in fields), default=-1) + 1)
    for field in fields:
        spec[field[0]] = (*field, None)
    return type(name, (Struct,), {"thrift_spec": tuple(spec)})


BenchmarkMessage = struct(
    "BenchmarkMessage", *((number, KINDS[kind][0], f"field{number}", KINDS[kind][1]) for number, kind in FIELDS)
)
MESSAGE = (TType.STRUCT, [BenchmarkMessage, BenchmarkMessage.thrift_spec])
METHODS = {
    "say": (
        struct("say_args", (1, MESSAGE[0], "request", MESSAGE[1])),
        struct("say_result", (0, MESSAGE[0], "success", MESSAGE[1])),
    ),
    "exchange": (
        struct("exchange_args", (1, TType.STRING, "request", "BINARY")),
        struct("exchange_result", (0, TType.STRING, "success", "BINARY")),
    ),
}


def of_wire(wire):
    """Transport and protocol."""
    transport, protocol = wire.removeprefix("tcp+").split("/")
    transports = {"buffered": TBufferedTransport, "framed": TFramedTransport}
    protocols = {"binary": TBinaryProtocol, "compact": TCompactProtocol}
    return transports[transport], protocols[protocol]


def to_struct(message):
    # An empty list is absent.
    return BenchmarkMessage(**{name: value for name, value in message.items() if value != []})


def of_struct(source):
    values = {f"field{number}": getattr(source, f"field{number}") for number, _ in FIELDS}
    return {**values, "field5": values["field5"] or []}
