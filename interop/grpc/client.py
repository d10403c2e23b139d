"""PyPI grpcio as a client: ADDRESS WIRE CASE."""

import time

import benchmark_pb2 as pb
import benchmark_pb2_grpc as rpc
import grpc
from benchmark import PAYLOAD_SIZES, answer, expect, fail, fill, message, payload, run, same, values

LIMIT = 20


def channel(address):
    return grpc.insecure_channel(address, [("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", 16 << 20)])


def failure(call):
    """The status of a call that must fail."""
    try:
        call()
    except grpc.RpcError as error:
        return error
    fail("the call was answered, and must fail")


def has_code(what, error, *codes):
    expect(f"{what}: {error.code()} ({error.details()}), not {' or '.join(map(str, codes))}", error.code() in codes)


def still_serves(open_channel):
    request = message("echo")
    reply = rpc.EchoStub(open_channel).Say(fill(pb.BenchmarkMessage(), request), timeout=LIMIT)
    same("the call after it", values(reply), answer(request))


def echo(address, _wire, case):
    request = message(case)
    reply = rpc.EchoStub(channel(address)).Say(fill(pb.BenchmarkMessage(), request), timeout=LIMIT)
    same("reply", values(reply), answer(request))


def sizes(address, _wire, _case):
    stub = rpc.PayloadStub(channel(address))
    for size in PAYLOAD_SIZES:
        reply = stub.Exchange(pb.PayloadMessage(body=payload(size)), timeout=LIMIT)
        same(f"{size} bytes", reply.body, payload(size))


def empty_unary(address, _wire, _case):
    reply = rpc.PayloadStub(channel(address)).Exchange(pb.PayloadMessage(body=b""), timeout=LIMIT)
    same("reply", reply.body, b"")


def large_unary(address, _wire, _case):
    # gRPC's own case has 271,828 bytes; here as much as the default limits of both sides let through, nearly.
    for size in (271_828, 1_048_576, 4 * 1_048_576 - 16):
        reply = rpc.PayloadStub(channel(address)).Exchange(pb.PayloadMessage(body=payload(size)), timeout=LIMIT)
        same(f"{size} bytes", reply.body, payload(size))


def concurrent(address, _wire, _case):
    stub = rpc.EchoStub(channel(address))
    requests = [{**message("distinct"), "field3": i, "field4": f"call {i}"} for i in range(100)]
    calls = [stub.Say.future(fill(pb.BenchmarkMessage(), request), timeout=LIMIT) for request in requests]
    for i, call in enumerate(calls):
        same(f"call {i}", values(call.result()), answer(requests[i]))


def custom_metadata(address, _wire, _case):
    request = message("echo")
    metadata = [("x-grpc-test-echo-initial", "test_initial_metadata_value"), ("x-grpc-test-echo-trailing-bin", b"\xab\xab\x00")]
    reply, call = rpc.EchoStub(channel(address)).Say.with_call(
        fill(pb.BenchmarkMessage(), request), metadata=metadata, timeout=LIMIT
    )
    same("reply", values(reply), answer(request))
    expect(f"status: {call.code()}", call.code() == grpc.StatusCode.OK)


def unimplemented_method(address, _wire, _case):
    open_channel = channel(address)
    error = failure(lambda: open_channel.unary_unary("/rpcbench.Echo/NoSuchMethod")(b"", timeout=LIMIT))
    has_code("unknown method", error, grpc.StatusCode.UNIMPLEMENTED)
    error = failure(lambda: open_channel.unary_unary("/rpcbench.Echo/say")(b"", timeout=LIMIT))
    has_code("method in other case", error, grpc.StatusCode.UNIMPLEMENTED)
    still_serves(open_channel)


def unimplemented_service(address, _wire, _case):
    open_channel = channel(address)
    error = failure(lambda: open_channel.unary_unary("/grpc.testing.UnimplementedService/Say")(b"", timeout=LIMIT))
    has_code("unknown service", error, grpc.StatusCode.UNIMPLEMENTED)
    still_serves(open_channel)


def malformed(address, _wire, _case):
    open_channel = channel(address)
    whole = fill(pb.BenchmarkMessage(), message("echo")).SerializeToString()
    error = failure(lambda: open_channel.unary_unary("/rpcbench.Echo/Say")(whole[:300], timeout=LIMIT))
    has_code("half a message", error, grpc.StatusCode.INTERNAL)
    still_serves(open_channel)


def compressed(address, _wire, _case):
    # A server that does not know the compression must say so and not take the bytes for a message.
    open_channel = channel(address)
    request = fill(pb.BenchmarkMessage(), message("echo"))
    error = failure(lambda: rpc.EchoStub(open_channel).Say(request, compression=grpc.Compression.Gzip, timeout=LIMIT))
    has_code("gzip", error, grpc.StatusCode.UNIMPLEMENTED)
    still_serves(open_channel)


def oversize(address, _wire, _case):
    open_channel = channel(address)
    body = payload(4 * 1_048_576 + 1)
    error = failure(lambda: rpc.PayloadStub(open_channel).Exchange(pb.PayloadMessage(body=body), timeout=LIMIT))
    # gRPC says RESOURCE_EXHAUSTED, tonic OUT_OF_RANGE.
    has_code("over 4 MiB", error, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE)
    still_serves(open_channel)


def deadline_exceeded(address, _wire, _case):
    open_channel = channel(address)
    request = fill(pb.BenchmarkMessage(), message("echo"))
    began = time.monotonic()
    error = failure(lambda: rpc.EchoStub(open_channel).Say(request, timeout=0.2))
    # Both sides keep the time. Where tonic's is first, it says CANCELLED.
    has_code("0.2 s", error, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
    took = time.monotonic() - began
    expect(f"the deadline of 0.2 s came after {took:.2f} s", took < 1.5)
    still_serves(open_channel)


run(
    {
        "echo": echo,
        "distinct": echo,
        "payload": sizes,
        "empty_unary": empty_unary,
        "large_unary": large_unary,
        "concurrent": concurrent,
        "custom_metadata": custom_metadata,
        "unimplemented_method": unimplemented_method,
        "unimplemented_service": unimplemented_service,
        "malformed": malformed,
        "compressed": compressed,
        "oversize": oversize,
        "deadline_exceeded": deadline_exceeded,
    }
)
