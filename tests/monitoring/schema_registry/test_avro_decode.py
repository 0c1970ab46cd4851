"""Avro: what real serializers wrote, and what nobody should write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.schema_registry.avro_decode import AvroSchema
from monitoring.schema_registry.decoding_limits import DataInvalid, SchemaInvalid
from tests.monitoring.schema_registry import serialized
from tests.monitoring.schema_registry.serialized import logical
from tests.support.hostile_http import MIB, memory_below


def decoded(schema, data, references=()):
    return AvroSchema(json.dumps(schema), references).decode(data, 0)


def test_a_record_of_a_real_serializer_is_decoded():
    schema = AvroSchema(serialized.AVRO_SCHEMA)
    assert schema.decode(serialized.AVRO_RECORD, 5) == serialized.AVRO_VALUE
    assert schema.title == "Payment"


@pytest.mark.parametrize(
    ("schema", "data", "value"),
    [
        ("null", b"", None),
        ("boolean", b"\x01", True),
        ("int", b"\x7f", -64),
        ("long", b"\x80\x01", 64),
        ("long", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", -(2**63)),
        ("float", b"\xcd\xcc\xcc\x3d", 0.1),
        ("double", b"\x00\x00\x00\x00\x00\x00\xf0\x7f", "Infinity"),
        ("bytes", b"\x04\xff1", "ÿ1"),
        ("string", b"\x04\xc3\xb6", "ö"),
        ({"type": "array", "items": "int"}, b"\x03\x04\x02\x04\x00", [1, 2]),  # with its size
        ({"type": "map", "values": "int"}, b"\x02\x02a\x06\x00", {"a": 3}),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, b"\x02", "B"),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", "ab"),
        (["null", "string"], b"\x02\x02x", "x"),
        (logical("int", "date"), b"\x02", "1970-01-02"),
        (logical("int", "time-millis"), b"\x02", "00:00:00.001"),
        (logical("long", "timestamp-micros"), b"\x01", "1969-12-31T23:59:59.999999Z"),
        (logical("long", "timestamp-nanos"), b"\x02", "1970-01-01T00:00:00.000000001Z"),
        (logical("long", "local-timestamp-millis"), b"\x02", "1970-01-01T00:00:00.001"),
        (logical("long", "nonsense"), b"\x02", 1),
        (logical("fixed", "decimal", name="D", size=2, scale=3), b"\xff\xff", "-0.001"),
        (logical("fixed", "duration", name="D", size=12), b"\x01\0\0\0\x02\0\0\0\x03\0\0\0",
         {"months": 1, "days": 2, "millis": 3}),
        (logical("fixed", "uuid", name="U", size=16), bytes(16),
         "00000000-0000-0000-0000-000000000000"),
    ],
)  # fmt: skip
def test_each_type_is_decoded(schema, data, value):
    assert decoded(schema, data) == value


def test_a_timestamp_out_of_range_stays_a_number():
    data = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    assert decoded({"type": "long", "logicalType": "timestamp-millis"}, data) == 2**63 - 1


def test_types_are_found_by_name_in_namespaces_and_references():
    reference = json.dumps(
        {"type": "record", "name": "a.b.User", "fields": [{"name": "n", "type": "int"}]}
    )
    field = {"name": "user", "type": "User"}
    schema = {"type": "record", "name": "Order", "namespace": "a.b", "fields": [field]}
    assert decoded(schema, b"\x02", [("a.b.User", reference)]) == {"user": {"n": 1}}


def test_a_schema_may_contain_itself():
    fields = [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}]
    schema = {"type": "record", "name": "Node", "fields": fields}
    assert decoded(schema, b"\x02\x02\x04\x00") == {"v": 1, "next": {"v": 2, "next": None}}


@pytest.mark.parametrize(
    "text",
    ["{", "[" * 100_000, '"unknown"', "{}", "17", '{"type": "array"}',
     '{"type": "fixed", "name": "F"}',
     '{"type": "fixed", "name": "F", "size": -1}', '{"type": "record", "name": "R"}',
     '{"type": "record", "name": "R", "fields": [{"name": "\\ud800", "type": "int"}]}',
     '{"type": "record", "name": "9", "fields": []}',
     '{"type": "enum", "name": "E", "symbols": [1]}',
     '{"type":' * 200 + '"int"' + "}" * 200,
     json.dumps(["null"] * 30_000)],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_a_schema_that_is_none_is_refused(text):
    with pytest.raises(SchemaInvalid):
        AvroSchema(text)


NULLS = {"type": "array", "items": "null"}
NODE = {"type": "record", "name": "N", "fields": [{"name": "n", "type": ["null", "N"]}]}
ENDLESS = {"type": "record", "name": "N", "fields": [{"name": "n", "type": "N"}]}
# Each level has a hundred of the next: 100^8 values in no byte.
LEVELS = {"type": "record", "name": "L0", "fields": []}
for number in range(1, 9):
    of = [{"name": "f0", "type": LEVELS}]
    of += [{"name": f"f{each}", "type": f"L{number - 1}"} for each in range(1, 100)]
    LEVELS = {"type": "record", "name": f"L{number}", "fields": of}


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (NULLS, b"\xfe\xff\xff\xff\xff\xff\xff\x7f\x00"),
        (NULLS, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00"),
        (NODE, b"\x02" * 2_000_000 + b"\x00"),
        (ENDLESS, b""),
        (LEVELS, b""),
        ("string", b"\xfe\xff\xff\xff\xff\xff\xff\x7f"),
        ("string", b"\x01"),
        ("bytes", b"\x04a"),
        ("long", b"\xff" * 11),
        ("boolean", b"\x02"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02"),
        (["null"], b"\x01"),
        ("int", b"\x02\x02"),
    ],
)
def test_hostile_data_are_refused_in_little_memory(schema, data):
    compiled = AvroSchema(json.dumps(schema))
    with memory_below(80 * MIB), pytest.raises(DataInvalid):
        compiled.decode(data, 0)


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(data):
    try:
        json.dumps(AvroSchema(serialized.AVRO_SCHEMA).decode(data, 0))
    except DataInvalid:
        pass
