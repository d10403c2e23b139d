"""PyPI grpcio as a server. Prints `ready ADDRESS` and ends with stdin."""

from concurrent.futures import ThreadPoolExecutor

import benchmark_pb2 as pb
import benchmark_pb2_grpc as rpc
import grpc
from benchmark import serve


class Echo(rpc.EchoServicer):
    def Say(self, request, context):
        request.field1 = "OK"
        request.field2 = 100
        return request


class Payload(rpc.PayloadServicer):
    def Exchange(self, request, context):
        return pb.PayloadMessage(body=request.body)


server = grpc.server(ThreadPoolExecutor(4))
rpc.add_EchoServicer_to_server(Echo(), server)
rpc.add_PayloadServicer_to_server(Payload(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
serve(f"127.0.0.1:{port}")
server.stop(None)
