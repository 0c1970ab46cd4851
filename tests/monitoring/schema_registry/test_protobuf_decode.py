"""Protobuf: what real serializers wrote, and what nobody should write."""

import base64
import json

import pytest
from google.protobuf import descriptor_pb2, struct_pb2
from hypothesis import given
from hypothesis import strategies as st

from monitoring.schema_registry.decoding_limits import DataInvalid, SchemaInvalid
from monitoring.schema_registry.protobuf_decode import ProtobufSchema
from tests.monitoring.schema_registry import serialized
from tests.support.hostile_http import MIB, memory_below

ORDER = ProtobufSchema(serialized.PROTO_SCHEMA)


def decoded(text, data, references=()):
    """A message of the first type of the text."""
    return ProtobufSchema(text, references).decode(b"\x00" + data, 0)[0]


def test_a_record_of_a_real_serializer_is_decoded():
    value, name = ORDER.decode(serialized.PROTO_RECORD, 5)
    assert value == serialized.PROTO_VALUE
    assert name == "shop.v1.Order"


@pytest.mark.parametrize(
    ("data", "value", "name"),
    [
        (serialized.PROTO_CUSTOMER, {"name": "Ann", "card_number": ""}, "shop.v1.Customer"),
        (serialized.PROTO_ITEM, {"sku": "x", "count": 3}, "shop.v1.Order.Item"),
        (serialized.PROTO_DEEP, {"d": "y"}, "shop.v1.Order.Item.Deep"),
        # Java's serializer does not count maps as messages.
        (b"\0\0\0\0\x03\x04\x00\x00\x0a\x01x", {"sku": "x", "count": 0}, "shop.v1.Order.Item"),
    ],
)
def test_the_message_indexes_choose_the_message(data, value, name):
    assert ORDER.decode(data, 5) == (value, name)


def test_of_two_messages_of_one_name_both_have_their_types():
    text = """
    syntax = "proto3";
    message A { B b = 1; }
    message B { int32 x = 1; }
    message A { int32 c = 2; }
    """
    assert decoded(text, b"\x0a\x02\x08\x05") == {"b": {"x": 5}}


def test_a_schema_may_be_a_descriptor_in_base64():
    text = base64.b64encode(struct_pb2.DESCRIPTOR.serialized_pb).decode()
    data = struct_pb2.Struct(fields={"a": struct_pb2.Value(number_value=1)}).SerializeToString()
    assert decoded(text, data) == {"a": 1}


def test_proto2_has_groups_extensions_and_aliases():
    text = """
    syntax = "proto2";
    message Row {
      required string name = 1;
      optional group Part = 2 { optional int32 n = 1 [default = 5]; }
      extensions 100 to max;
      optional Color color = 4 [default = RED];
      enum Color { option allow_alias = true; RED = 0x1; ROUGE = 1; BLUE = -2; }
      repeated int32 packed = 5 [packed = true];
    }
    extend Row { optional string more = 100; }
    """
    data = bytes.fromhex("0a016e13080314" + "20feffffffffffffffff01" + "2a020102" + "a2060165")
    value = {"name": "n", "part": {"n": 3}, "color": "BLUE", "packed": [1, 2]}
    assert decoded(text, data) == value


def test_an_edition_has_presence():
    text = 'edition = "2023"; message A { int32 n = 1; string s = 2; }'
    assert decoded(text, b"\x08\x00") == {"n": 0}


def test_an_edition_has_types_that_are_exported_or_local():
    text = """edition = "2024"; local enum E { X = 0; }
    export message A { export message B { int32 n = 1; } B b = 1; local enum F { Y = 0; } }"""
    assert decoded(text, b"\x0a\x02\x08\x05") == {"b": {"n": 5}}


def test_a_type_is_found_in_the_innermost_scope_and_in_references():
    text = """syntax = "proto3"; package a.b; import "c.proto";
    message A { message C { int32 inner = 1; } C own = 1; .a.C outer = 2; b.D d = 3; }
    message D { bool x = 1; }"""
    reference = ("c.proto", 'syntax = "proto3"; package a; message C { int32 other = 1; }')
    data = b"\x0a\x02\x08\x01\x12\x02\x08\x02\x1a\x02\x08\x01"
    assert decoded(text, data, [reference]) == {
        "own": {"inner": 1}, "outer": {"other": 2}, "d": {"x": True},
    }  # fmt: skip


def test_the_last_field_of_a_oneof_holds():
    text = 'syntax = "proto3"; message A { oneof x { string a = 1; int32 b = 2; } }'
    assert decoded(text, b"\x0a\x01s\x10\x05") == {"b": 5}


def _descriptor(message):
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", syntax="proto3")
    file.message_type.add().CopyFrom(message)
    return base64.b64encode(file.SerializeToString()).decode()


def test_a_field_of_a_descriptor_may_have_the_name_of_a_oneof():
    message = descriptor_pb2.DescriptorProto(name="A")
    message.oneof_decl.add(name="x")
    field = descriptor_pb2.FieldDescriptorProto
    message.field.add(name="oneof x", number=1, type=field.TYPE_INT32, label=field.LABEL_REPEATED)
    message.field.add(
        name="a", number=2, type=field.TYPE_INT32, label=field.LABEL_OPTIONAL, oneof_index=0
    )
    value = decoded(_descriptor(message), b"\x08\x07\x10\x05")
    assert value == {"oneof x": [7], "a": 5}


def test_a_map_of_a_descriptor_without_values_is_refused():
    message = descriptor_pb2.DescriptorProto(name="A")
    entry = message.nested_type.add(name="MEntry")
    entry.options.map_entry = True
    field = descriptor_pb2.FieldDescriptorProto
    for name, number in (("key", 1), ("value", 3)):
        entry.field.add(name=name, number=number, type=field.TYPE_INT32)
    message.field.add(
        name="m", number=1, type=field.TYPE_MESSAGE, label=field.LABEL_REPEATED,
        type_name=".A.MEntry",
    )  # fmt: skip
    with pytest.raises(SchemaInvalid, match="map"):
        ProtobufSchema(_descriptor(message))


def test_fields_that_the_schema_does_not_have_are_left_out():
    text = 'syntax = "proto3"; message A { int32 a = 1; }'
    assert decoded(text, b"\x12\x06secret\x08\x05\x1b\x08\x01\x1c") == {"a": 5}


def test_an_any_of_an_unknown_type_is_one_text():
    text = """syntax = "proto3"; import "google/protobuf/any.proto";
    message A { google.protobuf.Any x = 1; }"""
    assert decoded(text, b"\x0a\x07\x0a\x01t\x12\x02hi") == {"x": "t aGk="}


def test_a_type_of_its_own_with_a_well_known_name_is_shown_as_it_is():
    text = (
        """syntax = "proto3"; package google.protobuf; message Timestamp { string seconds = 1; }"""
    )
    assert decoded(text, b"\x0a\x01x") == {"seconds": "x"}


@pytest.mark.parametrize(
    "text",
    ["message", "message A {", "message A { int32 }", "message A { int32 a = x; }", "}", "§",
     "message A { Unknown a = 1; }", "message A { int32 a = 0; }", "/* open", '"open',
     "message A { map<A, A> a = 1; }", "message A { string a = 99999999999999; }",
     "message A {" * 1000, "option x = " + "{" * 100_000, f"message {'a' * 5000} {{}}",
     "message A { int32 a = 1; repeated int32 a = 2; }", "message A { int32 a = 1; }" * 20_000],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_a_schema_that_is_none_is_refused(text):
    with pytest.raises(SchemaInvalid):
        ProtobufSchema(text)


def test_a_message_with_no_fields_may_be_the_first():
    assert decoded("message A {}", b"") == {}


FIELDS = "".join(f"int64 f{number} = {number};" for number in range(1, 5000))
WIDE = f'syntax = "proto3"; message A {{ repeated B b = 1; }} message B {{{FIELDS}}}'
SELF = 'syntax = "proto3"; message A { A a = 1; }'
MANY = 'syntax = "proto3"; message A { repeated bool a = 1; repeated E e = 2; } enum E { %s = 0; }'


def nested(levels):
    data = b""
    for _ in range(levels):
        size = len(data)
        length = bytes([size & 0x7F | 0x80, size >> 7]) if size > 0x7F else bytes([size])
        data = b"\x0a" + length + data
    return data


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (WIDE, b"\x0a\x00" * 500_000),  # two bytes each, and 5000 fields
        (SELF, nested(1000)),
        (MANY % "A", b"\x0a\xff\xff\x7f" + b"\x01" * 0x1FFFFF),
        (MANY % ("A" * 999), b"\x12\xff\xff\x03" + b"\x00" * 0xFFFF),
        (SELF, b"\x0a\x7f"),
        (SELF, b"\x0a"),
        (SELF, b"\x0c"),
        (SELF, b"\x13" * 100_000),
        (SELF, b"\x0f"),
        (SELF, b"\xff" * 11),
    ],
    ids=["wide", "deep", "packed", "enum", "short", "cut", "group end", "groups", "type", "number"],
)
def test_hostile_data_are_refused_in_little_memory(text, data):
    schema = ProtobufSchema(text)
    with memory_below(80 * MIB), pytest.raises(DataInvalid):
        schema.decode(b"\x00" + data, 0)


@pytest.mark.parametrize("data", [b"", b"\x02\x0a", b"\x01", b"\xfe\x01", b"\x02\x01"])
def test_message_indexes_that_point_nowhere_are_refused(data):
    with pytest.raises(DataInvalid):
        ORDER.decode(data, 0)


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(data):
    try:
        json.dumps(ORDER.decode(data, 0))
    except DataInvalid:
        pass


@given(st.text(alphabet='message enum A{}[]()<>=;,"/*-1.\n', max_size=200))
def test_any_text_is_a_schema_or_refused(text):
    try:
        ProtobufSchema(text)
    except SchemaInvalid:
        pass
