// The benchmark's message beside the generated code, in its package.
package rpcbench

import (
	"fmt"
	"reflect"

	"github.com/golang/protobuf/proto"
)

// Request has another value in each field, bools aside, so that what lands in a neighbour's place is found out.
func Request() *BenchmarkMessage {
	message := &BenchmarkMessage{}
	fields := reflect.ValueOf(message).Elem()
	filled := 0
	for i := 0; i < fields.NumField(); i++ {
		var number int
		if _, err := fmt.Sscanf(fields.Type().Field(i).Name, "Field%d", &number); err != nil {
			continue
		}
		filled++
		switch field := fields.Field(i).Addr().Interface().(type) {
		case **string:
			*field = proto.String(fmt.Sprintf("许多往事在眼前一幕一幕，变的那麼模糊 %d", number))
		case **bool:
			*field = proto.Bool(number%2 == 1)
		case **int32:
			*field = proto.Int32(int32(-1000000 + 7*number))
		case **int64:
			*field = proto.Int64(-(1 << 40) - int64(number))
		case *[]uint64:
			*field = []uint64{0, 1, 1<<40 + uint64(number)}
		default:
			panic(fmt.Sprintf("field %d has the unknown type %T", number, field))
		}
	}
	if filled != 40 {
		panic(fmt.Sprintf("%d fields", filled))
	}
	return message
}

// Answer is what the service makes of a request.
func Answer(request *BenchmarkMessage) *BenchmarkMessage {
	request.Field1 = proto.String("OK")
	request.Field2 = proto.Int32(100)
	return request
}
