"""JSON as data with a schema, and back by the decoder."""

import json

import pytest

from monitoring.schema_registry.compiled_schema import CompiledSchema, SchemaUnusable
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.read_schemas import Schema
from monitoring.schema_registry.schema_encoder import NotEncoded, SchemaEncoder
from tests.monitoring.schema_registry import serialized

AVRO = Schema(1, "AVRO", serialized.AVRO_SCHEMA)
JSON = Schema(2, "JSON", serialized.JSON_SCHEMA)
PROTOBUF = Schema(3, "PROTOBUF", serialized.PROTO_SCHEMA)


def encoded(schema: Schema, value, message="") -> bytes:
    text = json.dumps(value)
    return SchemaEncoder(schema, message).encode(exact_json(text), text)


def decoded(schema: Schema, data: bytes):
    found = CompiledSchema(schema).decode(data)
    assert found.json is not None, found.problem
    return json.loads(found.json)


def test_avro_and_json_schema_are_written_as_real_serializers_do():
    assert encoded(AVRO, serialized.AVRO_VALUE) == serialized.AVRO_RECORD
    written = encoded(JSON, serialized.JSON_VALUE)
    assert written[:5] == serialized.JSON_RECORD[:5]
    assert decoded(JSON, written) == serialized.JSON_VALUE


def test_protobuf_comes_back_with_every_type():
    value = {name: each for name, each in serialized.PROTO_VALUE.items() if name != "detail"}
    assert decoded(PROTOBUF, encoded(PROTOBUF, value)) == value


def test_every_name_of_an_enums_number_is_taken():
    text = """
    syntax = "proto3";
    message Row { E e = 1; }
    enum E { option allow_alias = true; NONE = 0; A = 1; B = 1; }
    """
    schema = Schema(8, "PROTOBUF", text)
    assert encoded(schema, {"e": "B"}) == encoded(schema, {"e": "A"})
    assert decoded(schema, encoded(schema, {"e": "B"})) == {"e": "A"}


def test_message_indexes_name_the_message():
    assert encoded(PROTOBUF, {"name": "Ann"}, "Customer") == serialized.PROTO_CUSTOMER
    # The serializers of Python and Go count entries of maps as messages, Java's and Aerie do not.
    item = encoded(PROTOBUF, {"sku": "x", "count": 3}, "shop.v1.Order.Item")
    assert CompiledSchema(PROTOBUF).decode(item).title == "shop.v1.Order.Item"
    assert item.endswith(serialized.PROTO_ITEM[8:])
    with pytest.raises(SchemaUnusable, match="no message “Nothing”"):
        encoded(PROTOBUF, {}, "Nothing")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"order_id": "x"}, "at “value.order_id”: expected int64, a whole number of 64 bits"),
        ({"orderId": 1, "order_id": 1}, "at “value.order_id”: the field is there twice"),
        ({"numbers": [2**31]}, "at “value.numbers[0]”: expected int32"),
        ({"items": {"a": {"sku": 1}}}, "at “value.items.a.sku”: expected string"),
        ({"card": "1", "iban": "AA=="}, "another field of the oneof “payment” is set"),
        ({"iban": "?"}, "expected bytes in base64"),
        ({"state": "LOST"}, "expected one of NEW, PAID"),
        ({"at": "today"}, "a time such as"),
        ({"at": "2026-01-31T10:00:00+99:99"}, "a time such as"),
        ({"nothing": 1}, "shop.v1.Order has no such field"),
        ([], "expected message shop.v1.Order"),
    ],
)
def test_what_protobuf_does_not_take_says_where(value, why):
    with pytest.raises(NotEncoded) as raised:
        encoded(PROTOBUF, value)
    assert why in str(raised.value.reason)


CHECKED = {
    "type": "object", "required": ["id"], "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": 1, "multipleOf": 2},
        "kind": {"enum": ["a", "b"]},
        "name": {"type": ["string", "null"], "pattern": "^[a-z]+$", "maxLength": 3},
        "tags": {"type": "array", "items": {"$ref": "#/definitions/tag"}, "uniqueItems": True},
        "size": {"oneOf": [{"type": "number", "exclusiveMaximum": 9}, {"const": "big"}]},
        "child": {"$ref": "#"},
    },
    "definitions": {"tag": {"type": "string", "minLength": 1}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"id": 2, "kind": "a", "name": None, "tags": ["x"], "size": 1.5, "child": {"id": 4}}, ""),
        ({"id": 4.0, "size": "big"}, ""),
        ({}, "at “value.id”: it is missing"),
        ({"id": "1"}, "at “value.id”: expected integer"),
        ({"id": 0}, "at “value.id”: expected a number of at least 1"),
        ({"id": 3}, "a multiple of 2"),
        ({"id": 2, "other": 1}, "at “value.other”: the schema has no such member"),
        ({"id": 2, "kind": "c"}, 'expected one of "a", "b"'),
        ({"id": 2, "name": "A"}, "a text like ^[a-z]+$"),
        ({"id": 2, "name": "abcd"}, "at most 3 characters"),
        ({"id": 2, "tags": [""]}, "at “value.tags[0]”: expected at least 1 characters"),
        ({"id": 2, "tags": ["x", "x"]}, "all different"),
        ({"id": 2, "size": 9}, "expected a number of less than 9 or expected "),
        ({"id": 2, "child": {"id": True}}, "at “value.child.id”: expected integer"),
    ],
)
def test_json_is_checked_against_its_schema(value, why):
    schema = Schema(4, "JSON", json.dumps(CHECKED))
    if not why:
        assert decoded(schema, encoded(schema, value)) == value
        return
    with pytest.raises(NotEncoded) as raised:
        encoded(schema, value)
    assert why in str(raised.value.reason)


def test_a_schema_that_refers_to_itself_for_ever_is_refused():
    schema = Schema(5, "JSON", '{"$ref": "#"}')
    with pytest.raises(NotEncoded, match="levels"):
        encoded(schema, 1)


def test_references_of_json_schemas_are_followed():
    references = (("tag.json", '{"type": "string"}'),)
    schema = Schema(6, "JSON", '{"items": {"$ref": "tag.json"}}', references)
    assert encoded(schema, ["x"])[5:] == b'["x"]'
    with pytest.raises(NotEncoded, match="expected string"):
        encoded(schema, [1])


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 100},
                   "b": {"anyOf": [{"$ref": "#/$defs/c"}] * 100},
                   "c": {"anyOf": [{"type": "null"}] * 100}}, "$ref": "#/$defs/a"},
        {"allOf": [{"enum": ["x"]}] * 50_000},
    ],
)  # fmt: skip
def test_a_schema_that_makes_much_of_a_small_value_is_given_up(schema):
    with pytest.raises(NotEncoded):
        encoded(Schema(7, "JSON", json.dumps(schema)), "x" * 1_000)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"patternProperties": {f"^{number}": True for number in range(1_000)}}, {"x" * 20_000: 1}),
        ({"allOf": [{"$ref": "#/$defs/a"}] * 1_000, "$defs": {"a": {"required": ["x"] * 10_000}}},
         {"x": 1}),
    ],
)  # fmt: skip
def test_long_names_and_lists_of_names_have_their_cost(schema, value):
    with pytest.raises(NotEncoded, match="at most 200000 values"):
        encoded(Schema(9, "JSON", json.dumps(schema)), value)


def test_times_with_an_offset_are_written_in_utc():
    with_offset = {"at": "2026-11-27T22:30:00.5+01:30"}
    assert decoded(PROTOBUF, encoded(PROTOBUF, with_offset))["at"] == "2026-11-27T21:00:00.500Z"


def test_a_number_beyond_a_float_is_no_infinity():
    with pytest.raises(NotEncoded, match="expected float"):
        SchemaEncoder(PROTOBUF).encode(exact_json('{"price": 1e350}'), "")
