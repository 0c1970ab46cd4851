"""Schemas, and records that confluent-kafka 2.16 serialized with them.

The bytes were written by AvroSerializer, JSONSerializer and ProtobufSerializer (with protoc's
classes) against a registry with these schemas; the expected values are those that were given to
them.
"""

import json

from tests.support.schema_registry import Registry

AVRO_SCHEMA = json.dumps(
    {
        "type": "record", "name": "Payment", "namespace": "shop",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "user", "type": {"type": "record", "name": "User", "fields": [
                {"name": "name", "type": "string"},
                {"name": "card", "type": ["null", "string"]},
            ]}},
            {"name": "amount", "type": {
                "type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
        ],
    }
)  # fmt: skip
AVRO_RECORD = bytes.fromhex(
    "000000000152085a6fc3ab0212343131312d313131310404e280c2f6ecc36804066e6577086769667400"
)
AVRO_VALUE = {
    "id": 41, "user": {"name": "Zoë", "card": "4111-1111"}, "amount": "12.50",
    "at": "2026-11-27T21:00:00.000Z", "tags": ["new", "gift"],
}  # fmt: skip

JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "Click", "type": "object",
        "properties": {"page": {"type": "string"}, "n": {"type": "integer"}},
    }
)  # fmt: skip
JSON_RECORD = bytes.fromhex("00000000027b2270616765223a222f61222c226e223a337d")
JSON_VALUE = {"page": "/a", "n": 3}

PROTO_SCHEMA = """\
syntax = "proto3";
package shop.v1;

import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/any.proto";
import "google/protobuf/wrappers.proto";
import "google/type/money.proto";
import "validate/validate.proto";

option java_package = "com.example.shop";

/* An order,
   and everything in it. */
message Order {
  int64 order_id = 1 [json_name = "orderId", (validate.rules).int64 = {gt: 0}];
  Customer customer = 2;
  repeated int32 numbers = 3;
  map<string, Item> items = 4;
  enum State { NEW = 0; PAID = 1; reserved 5, 7 to 9; }
  State state = 5;
  optional string note = 6;
  oneof payment { string card = 7; bytes iban = 8; }
  google.protobuf.Timestamp at = 9;
  google.protobuf.Duration took = 10;
  google.protobuf.Struct extra = 11;
  google.protobuf.Any detail = 12;
  google.protobuf.Int32Value weight = 13;
  double ratio = 14;
  float price = 15;
  sint64 balance = 16;
  fixed32 f32 = 17;
  sfixed64 sf64 = 18;
  uint64 big = 19;
  bool is_gift = 20;
  repeated State history = 21;
  map<int32, bool> flags = 22;
  google.type.Money money = 23;
  reserved 100 to 200;
  reserved "old";
  message Item { string sku = 1; uint32 count = 2; message Deep { string d = 1; } }
}

message Customer { string name = 1; string card_number = 2; Order last = 3; } // a customer

service Orders {
  rpc Read(Order) returns (stream Customer) { option deprecated = true; }
}
"""
PROTO_RECORD = bytes.fromhex(
    "00000000030008818080808080808010120d0a03416e6e1206343131312d311a0c01feffffffffffffffff010322"
    "0a0a016112050a0178100328013a04343131314a0c08d0dea7d8061080cab5ee01521608ffffffffffffffffff01"
    "1080b6ca91feffffffff015a2a0a280a0161122332210a0911000000000000f03f0a031a01620a0208000a0b2a09"
    "0a070a01631202200162300a24747970652e676f6f676c65617069732e636f6d2f73686f702e76312e437573746f"
    "6d657212080a06496e20416e796a00719a9999999999b93f7dcdcccc3d8001098d01070000009101f7ffffffffff"
    "ffff9801ffffffffffffffffff01a00101aa0103000109b2010d08ffffffffffffffffff011001ba01070a034555"
    "521005"
)
PROTO_VALUE = {
    "order_id": 2**60 + 1,
    "customer": {"name": "Ann", "card_number": "4111-1"},
    "numbers": [1, -2, 3],
    "items": {"a": {"sku": "x", "count": 3}},
    "state": "PAID",
    "card": "4111",
    "at": "2026-11-27T21:00:00.500Z",
    "took": "-1.500s",
    "extra": {"a": [1, "b", None, {"c": True}]},
    "detail": {
        "@type": "type.googleapis.com/shop.v1.Customer", "name": "In Any", "card_number": "",
    },
    "weight": 0,
    "ratio": 0.1,
    "price": 0.1,
    "balance": -5,
    "f32": 7,
    "sf64": -9,
    "big": 2**64 - 1,
    "is_gift": True,
    "history": ["NEW", "PAID", 9],
    "flags": {"-1": True},
    "money": {"currency_code": "EUR", "units": 5, "nanos": 0},
}  # fmt: skip
# Of the second message of the file, and of messages within the first.
PROTO_CUSTOMER = bytes.fromhex("000000000302020a03416e6e")
PROTO_ITEM = bytes.fromhex("00000000030400040a01781003")
PROTO_DEEP = bytes.fromhex("0000000003060004000a0179")


def logical(kind: str, name_of_type: str, **more) -> dict:
    """A logical type of Avro."""
    return {"type": kind, "logicalType": name_of_type, **more}


def add_all(registry: Registry) -> None:
    """Register the schemas with the ids that the records have."""
    registry.add("payments-value", AVRO_SCHEMA)
    registry.add("clicks-value", JSON_SCHEMA, "JSON")
    registry.add("orders-value", PROTO_SCHEMA, "PROTOBUF")
