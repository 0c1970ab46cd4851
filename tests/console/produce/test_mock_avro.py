"""Mock values of Avro schemas: what the generator makes is what the encoder takes."""

import json

import pytest

from console.produce.actions.mock_records import MockSpec
from console.produce.mock_avro import json_schema_of
from console.produce.mock_values import InvalidSchema, MockValues
from monitoring.schema_registry.avro_encode import AvroEncoder
from monitoring.schema_registry.exact_json import exact_json
from monitoring.schema_registry.read_schemas import Schema
from tests.monitoring.schema_registry import serialized
from tests.monitoring.schema_registry.serialized import logical

TYPES = [
    *("null", "boolean", "int", "long", "float", "double", "bytes", "string"),
    *(logical("int", name) for name in ("date", "time-millis", "nonsense")),
    *(logical("long", f"{kind}timestamp-{unit}") for kind in ("", "local-")
      for unit in ("millis", "micros", "nanos")),
    logical("long", "time-micros"), logical("string", "uuid"),
    logical("bytes", "decimal", precision=9, scale=2),
    logical("bytes", "decimal", precision=2, scale=2),
    logical("fixed", "decimal", name="D1", size=2, precision=30, scale=1),
    logical("fixed", "uuid", name="U", size=16), logical("fixed", "duration", name="P", size=12),
    {"type": "fixed", "name": "F", "size": 3},
    {"type": "enum", "name": "E", "symbols": ["A", "B"]},
    {"type": "array", "items": "int"}, {"type": "map", "values": "string"},
    ["null", "string"], ["int", "long", "string", "null"],
    ["null", {"type": "record", "name": "shop.Line", "fields": []}, "string"],
]  # fmt: skip
TREE = {
    "type": "record", "name": "Tree", "namespace": "a.b",
    "fields": [
        {"name": "n", "type": "int"},
        {"name": "left", "type": ["null", "Tree"]},
        {"name": "right", "type": ["null", "Tree"]},
        {"name": "children", "type": {"type": "array", "items": "Tree"}},
        {"name": "by_name", "type": {"type": "map", "values": "Tree"}},
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", [*TYPES, TREE, json.loads(serialized.AVRO_SCHEMA)], ids=str)
def test_values_of_every_type_can_be_encoded(kind):
    text = json.dumps(kind)
    values = MockValues(json_schema_of(Schema(1, "AVRO", text)), 7, 1_700_000_000_000)
    encoder = AvroEncoder(text)
    for number in range(50):
        encoder.encode(exact_json(json.dumps(values.value(number))))


def test_a_stored_spec_has_the_schema_once_and_comes_back():
    """The JSON Schema has a named enum at each use."""
    symbols = [f"SYMBOL_{number}" for number in range(200)]
    fields = [{"name": "f0", "type": {"type": "enum", "name": "E", "symbols": symbols}}]
    fields += [{"name": f"f{number}", "type": "E"} for number in range(1, 200)]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    schema = Schema(1, "AVRO", text, (("other", '"string"'),), "orders-value", 3)
    spec = MockSpec(None, False, 1, 0, schema=schema)
    stored = spec.dumps()
    assert len(stored) < 2 * len(text)
    assert MockSpec.loads(stored) == spec
    assert MockSpec.loads(stored).preview() == spec.preview()


def test_a_schema_that_requires_values_of_endless_depth_is_refused():
    text = '{"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}'
    spec = MockSpec(json_schema_of(Schema(1, "AVRO", text)), True, 1, 0)
    with pytest.raises(InvalidSchema, match="endless depth"):
        spec.preview()


def test_a_schema_that_is_none_says_why():
    with pytest.raises(InvalidSchema, match="unknown type 'X'"):
        json_schema_of(Schema(1, "AVRO", '"X"'))
