"""JSON in Avro's binary encoding: as real serializers write it, and back by the decoder."""

import json

import pytest

from monitoring.schema_registry.avro_decode import AvroSchema
from monitoring.schema_registry.avro_encode import AvroEncoder
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.value_errors import ValueDoesNotFit
from tests.monitoring.schema_registry import serialized
from tests.monitoring.schema_registry.serialized import logical
from tests.support.hostile_http import MIB, memory_below


def encoded(schema, value):
    return AvroEncoder(json.dumps(schema)).encode(exact_json(json.dumps(value)))


def record(*fields, name="R"):
    return {"type": "record", "name": name, "fields": list(fields)}


DECIMAL = logical("bytes", "decimal", precision=4, scale=2)
TREE = record(
    {"name": "n", "type": "int"}, {"name": "left", "type": ["null", "Tree"], "default": None},
    name="Tree",
)  # fmt: skip


def test_a_record_is_encoded_as_by_a_real_serializer():
    encoder = AvroEncoder(serialized.AVRO_SCHEMA)
    assert encoder.encode(serialized.AVRO_VALUE) == serialized.AVRO_RECORD[5:]


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        ("null", None, b""),
        ("boolean", True, b"\x01"),
        ("int", -64, b"\x7f"),
        ("long", 64, b"\x80\x01"),
        ("long", -(2**63), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("float", 0.1, b"\xcd\xcc\xcc\x3d"),
        ("double", "Infinity", b"\x00\x00\x00\x00\x00\x00\xf0\x7f"),
        ("double", -0.0, b"\x00\x00\x00\x00\x00\x00\x00\x80"),
        ("double", 2, b"\x00\x00\x00\x00\x00\x00\x00\x40"),
        ("bytes", "ÿ1", b"\x04\xff1"),
        ("string", "ö", b"\x04\xc3\xb6"),
        ({"type": "array", "items": "int"}, [1, 2], b"\x04\x02\x04\x00"),
        ({"type": "array", "items": "int"}, [], b"\x00"),
        ({"type": "map", "values": "int"}, {"a": 3}, b"\x02\x02a\x06\x00"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", b"\x02"),
        ({"type": "fixed", "name": "F", "size": 2}, "ab", b"ab"),
        (logical("int", "date"), "1970-01-02", b"\x02"),
        (logical("int", "date"), 1, b"\x02"),
        (logical("int", "time-millis"), "00:00:00.001", b"\x02"),
        (logical("long", "timestamp-millis"), "1970-01-01T01:00:00.001+01:00", b"\x02"),
        (logical("long", "timestamp-micros"), "1969-12-31T23:59:59.999999Z", b"\x01"),
        (logical("long", "timestamp-nanos"), "1970-01-01T00:00:00.000000001Z", b"\x02"),
        (logical("long", "local-timestamp-millis"), "1970-01-01T00:00:00.001", b"\x02"),
        (logical("string", "uuid"), "00000000-0000-0000-0000-000000000001",
         b"H00000000-0000-0000-0000-000000000001"),
        (logical("fixed", "uuid", name="U", size=16), "00000000-0000-0000-0000-000000000001",
         bytes(15) + b"\x01"),
        (DECIMAL, "12.50", b"\x04\x04\xe2"),
        (DECIMAL, 12.5, b"\x04\x04\xe2"),
        (DECIMAL, -1, b"\x02\x9c"),
        (logical("fixed", "decimal", name="D", size=2, scale=3), "-0.001", b"\xff\xff"),
        (logical("fixed", "duration", name="D", size=12), {"months": 1, "days": 2, "millis": 3},
         b"\x01\0\0\0\x02\0\0\0\x03\0\0\0"),
        (["null", "string"], "x", b"\x02\x02x"),
        (["null", "string"], {"string": "x"}, b"\x02\x02x"),
        (["null", "string"], None, b"\x00"),
        (["int", "long"], {"long": 1}, b"\x02\x02"),
        (["int", "string"], 1, b"\x00\x02"),
        ([record(name="a.A"), "null"], {"A": {}}, b"\x00"),
        (TREE, {"n": 1, "left": {"n": 2}}, b"\x02\x02\x04\x00"),
    ],
)  # fmt: skip
def test_each_type_is_encoded(schema, value, data):
    assert encoded(schema, value) == data
    AvroSchema(json.dumps(schema)).decode(data, 0)


def test_a_missing_field_gets_its_default():
    schema = record(
        {"name": "a", "type": "int", "default": 7},
        {"name": "b", "type": ["string", "null"], "default": "x"},
        {"name": "c", "type": DECIMAL, "default": "\u0004\u00e2"},
        {"name": "d", "type": {"type": "array", "items": "int"}, "default": []},
    )
    decoded = AvroSchema(json.dumps(schema)).decode(encoded(schema, {}), 0)
    assert decoded == {"a": 7, "b": "x", "c": "12.50", "d": []}


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ("int", 2**31, "at “value”: expected int, a whole number of 32 bits"),
        ("int", True, "expected int"),
        ("int", 1.5, "expected int"),
        ("string", "\ud800", "expected string"),
        ("float", 1e300, "expected float"),
        ("bytes", "€", "one character a byte"),
        ({"type": "fixed", "name": "F", "size": 2}, "a", "a text of 2 characters"),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "C", "expected one of A, B"),
        (DECIMAL, "1.234", "at most 4 digits, 2 of them behind the point"),
        (DECIMAL, "123.45", "at most 4 digits"),
        (DECIMAL, "1e400", "at most 4 digits"),
        (logical("int", "date"), "31.1.2026", "a date such as"),
        (logical("long", "timestamp-millis"), "2026-01-31T10:00:00", "a time such as"),
        (logical("long", "timestamp-millis"), "2026-01-31T10:00:00.0001Z", "a time such as"),
        (logical("long", "timestamp-millis"), "2026-01-31T10:00:00+99:99", "a time such as"),
        (logical("string", "uuid"), "1", "a UUID"),
        (["int", "long"], 1, 'the name of its branch, {"int": …} or {"long": …}'),
        (["null", "int", "string"], 1.5, "expected one of null, int, string"),
        (TREE, {"n": 1, "left": {"n": "x"}}, "at “value.left.n”: expected int"),
        (TREE, {}, "at “value.n”: it is missing; expected int"),
        (TREE, {"n": 1, "m": 2}, "at “value.m”: the schema has no such field"),
        ({"type": "array", "items": "int"}, [1, "x"], "at “value[1]”: expected int"),
        ({"type": "array", "items": "null"}, [None] * 200_001, "at most 200000 values"),
    ],
)
def test_what_does_not_fit_says_where_and_what_is_expected(schema, value, why):
    with pytest.raises(ValueDoesNotFit) as raised:
        encoded(schema, value)
    assert why in str(raised.value.reason)


def test_the_names_of_many_branches_take_little_memory():
    name = f"{'n' * 900}.N"
    fields = [{"name": f"f{number}", "type": ["N"] * 500} for number in range(30)]
    schema = record(
        {"name": "first", "type": {"type": "fixed", "name": name, "size": 1}}, *fields,
        name=f"{'n' * 900}.R",
    )  # fmt: skip
    with memory_below(5 * MIB):
        encoder = AvroEncoder(json.dumps(schema))
    with pytest.raises(ValueDoesNotFit) as raised:
        encoder.encode({"first": "x", "f0": 1.5})
    assert len(str(raised.value.reason)) < 1_000


def test_a_value_of_endless_depth_is_refused():
    value: dict = {"n": 1}
    for _ in range(100):
        value = {"n": 1, "left": value}
    with pytest.raises(ValueDoesNotFit) as raised:
        encoded(TREE, value)
    assert raised.value.path[0] == "left"


def test_few_bytes_with_large_defaults_are_refused():
    item = record({"name": "a", "type": "string", "default": "x" * 10_000}, name="Item")
    schema = {"type": "array", "items": item}
    with pytest.raises(ValueDoesNotFit, match="bytes"):
        encoded(schema, [{}] * 5_000)


def test_a_decimal_of_endless_size_takes_no_memory():
    schema = logical("fixed", "decimal", name="D", size=2**40, precision=4, scale=2)
    with memory_below(50 * MIB), pytest.raises(ValueDoesNotFit, match="characters"):
        encoded(schema, "1.00")
