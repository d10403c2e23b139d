// The schema of record for every stack that speaks Thrift.
//
// BenchmarkMessage is the message of proto/benchmark.proto: the same fields, protobuf's numbers as ids, required where that is required,
// the same defaults; fixed64 becomes i64. Filled as the suite fills it, every optional field is set except the empty list, so that the
// defaults are never used: the request is 680 bytes in the binary protocol and 552 in the compact one.
namespace * rpcbench

struct BenchmarkMessage {
  1: required string field1
  9: optional string field9
  18: optional string field18
  80: optional bool field80 = false
  81: optional bool field81 = true
  2: required i32 field2
  3: required i32 field3
  280: optional i32 field280
  6: optional i32 field6 = 0
  22: optional i64 field22
  4: optional string field4
  // Absent when it is empty, as a repeated field of protobuf is.
  5: optional list<i64> field5
  59: optional bool field59 = false
  7: optional string field7
  16: optional i32 field16
  130: optional i32 field130 = 0
  12: optional bool field12 = true
  17: optional bool field17 = true
  13: optional bool field13 = true
  14: optional bool field14 = true
  104: optional i32 field104 = 0
  100: optional i32 field100 = 0
  101: optional i32 field101 = 0
  102: optional string field102
  103: optional string field103
  29: optional i32 field29 = 0
  30: optional bool field30 = false
  60: optional i32 field60 = -1
  271: optional i32 field271 = -1
  272: optional i32 field272 = -1
  150: optional i32 field150
  23: optional i32 field23 = 0
  24: optional bool field24 = false
  25: optional i32 field25 = 0
  78: optional bool field78
  67: optional i32 field67 = 0
  68: optional i32 field68
  128: optional i32 field128 = 0
  129: optional string field129 = "xxxxxxxxxxxxxxxxxxxxx"
  131: optional i32 field131 = 0
}

service Bench {
  // Sends the message back with field1 = "OK" and field2 = 100.
  BenchmarkMessage say(1: BenchmarkMessage request)

  // Sends the bytes back unchanged.
  binary exchange(1: binary body)
}
