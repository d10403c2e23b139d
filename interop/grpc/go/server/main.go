// grpc-go as a server. Prints `ready ADDRESS` and ends with stdin.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc"

	"rpcbench"
)

type services struct{}

func (services) Say(_ context.Context, request *rpcbench.BenchmarkMessage) (*rpcbench.BenchmarkMessage, error) {
	return rpcbench.Answer(request), nil
}

func (services) Exchange(_ context.Context, request *rpcbench.PayloadMessage) (*rpcbench.PayloadMessage, error) {
	return request, nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	rpcbench.RegisterEchoServer(server, services{})
	rpcbench.RegisterPayloadServer(server, services{})
	go server.Serve(listener)
	fmt.Printf("ready %s\n", listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}
