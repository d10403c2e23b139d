// grpc-go as a client: ADDRESS WIRE CASE.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/golang/protobuf/proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"rpcbench"
)

func fail(format string, arguments ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

func within(limit time.Duration) context.Context {
	ctx, _ := context.WithTimeout(context.Background(), limit)
	return ctx
}

func echo(connection *grpc.ClientConn, ctx context.Context) {
	request := rpcbench.Request()
	reply, err := rpcbench.NewEchoClient(connection).Say(ctx, request)
	if err != nil {
		fail("%v", err)
	}
	if want := rpcbench.Answer(rpcbench.Request()); !proto.Equal(reply, want) {
		fail("reply: %v instead of %v", reply, want)
	}
}

func exchange(connection *grpc.ClientConn, size int) error {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i*7 + size)
	}
	large := grpc.MaxCallRecvMsgSize(16 << 20)
	reply, err := rpcbench.NewPayloadClient(connection).Exchange(within(20*time.Second), &rpcbench.PayloadMessage{Body: body}, large)
	if err == nil && !bytes.Equal(reply.Body, body) {
		fail("%d bytes came back as %d others", size, len(reply.Body))
	}
	return err
}

func expect(what string, err error, wanted ...codes.Code) {
	for _, code := range wanted {
		if status.Code(err) == code {
			return
		}
	}
	fail("%s: %v instead of %v", what, err, wanted)
}

func main() {
	address, name := os.Args[1], os.Args[3]
	connection, err := grpc.DialContext(within(10*time.Second), address, grpc.WithInsecure(), grpc.WithBlock())
	if err != nil {
		fail("%v", err)
	}
	long := within(20 * time.Second)
	switch name {
	case "distinct":
		echo(connection, long)
	case "payload":
		for _, size := range []int{0, 1, 581, 65536, 1048576} {
			if err := exchange(connection, size); err != nil {
				fail("%d bytes: %v", size, err)
			}
		}
	case "custom_metadata":
		echo(connection, metadata.AppendToOutgoingContext(long, "x-grpc-test-echo-initial", "value", "x-test-bin", "\xab\x00\xff"))
	case "unimplemented_method":
		err := connection.Invoke(long, "/rpcbench.Echo/NoSuchMethod", rpcbench.Request(), &rpcbench.BenchmarkMessage{})
		expect("unknown method", err, codes.Unimplemented)
		echo(connection, long)
	case "unimplemented_service":
		err := connection.Invoke(long, "/grpc.testing.UnimplementedService/Say", rpcbench.Request(), &rpcbench.BenchmarkMessage{})
		expect("unknown service", err, codes.Unimplemented)
		echo(connection, long)
	case "oversize":
		// gRPC says ResourceExhausted, tonic OutOfRange.
		expect("over 4 MiB", exchange(connection, 4<<20+1), codes.ResourceExhausted, codes.OutOfRange)
		echo(connection, long)
	case "deadline_exceeded":
		_, err := rpcbench.NewEchoClient(connection).Say(within(200*time.Millisecond), rpcbench.Request())
		// Both sides keep the time. Where tonic's is first, it says CANCELLED.
		expect("0.2 s", err, codes.DeadlineExceeded, codes.Canceled)
		echo(connection, long)
	default:
		fail("no case '%s'", name)
	}
}
