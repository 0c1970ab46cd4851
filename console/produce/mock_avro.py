"""The JSON Schema of values that a schema of the registry takes (mock_values.py). Pure.

Those of an Avro schema are as monitoring/schema_registry/avro_encode.py reads them: with the name
of the branch where a union has several besides null.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.produce.data_formats import InvalidData, read_json
from console.produce.mock_values import InvalidSchema
from console.ui.texts import sentence
from monitoring.reasons import Reason
from monitoring.schema_registry.avro_compiler import Members, compiled
from monitoring.schema_registry.budget import SchemaInvalid
from monitoring.schema_registry.client import AVRO, JSON, Schema

_DIGITS_BEFORE_POINT = 4
_DIGITS_OF_BYTE = 2.4  # a little less than log10(256)
_LOCAL_SECONDS = (1_735_689_600, 1_798_761_600)  # 2025 and 2026
_FIXED_BYTES_MAX, _SCALE_MAX = 10_000, 200
_KEYS = ("amber", "basil")
_NUMBER = {"minimum": 0, "maximum": 1000}


@dataclass(frozen=True, slots=True)
class _Part:
    """`name` is the one in unions."""

    name: str
    schema: dict[str, Any]


def document_of(schema: Schema) -> Any:
    """Of a schema of any type. Raises InvalidSchema."""
    if schema.type == AVRO:
        return json_schema_of(schema)
    if schema.type != JSON:
        raise InvalidSchema(_("Mock records are made of schemas of Avro and JSON Schema."))
    try:
        return read_json(schema.text)
    except InvalidData as error:
        raise InvalidSchema(str(error)) from error


def json_schema_of(schema: Schema) -> dict[str, Any]:
    """Of an Avro schema. Raises InvalidSchema."""
    making = _Making()
    try:
        part, _tree = compiled(making, schema.text, schema.references)
    except SchemaInvalid as error:
        reason = Reason("schema_invalid", id=schema.id, why=str(error))
        raise InvalidSchema(sentence(reason)) from error
    return {**part.schema, "$defs": making.definitions()}


class _Making:
    """The parts of a schema as JSON Schemas (avro_compiler.Parts)."""

    primitives: Mapping[str, _Part] = {
        "null": _Part("null", {"type": "null"}),
        "boolean": _Part("boolean", {"type": "boolean"}),
        "int": _Part("int", {"type": "integer", **_NUMBER}),
        "long": _Part("long", {"type": "integer", **_NUMBER}),
        "float": _Part("float", {"type": "number", **_NUMBER}),
        "double": _Part("double", {"type": "number", **_NUMBER}),
        "bytes": _Part("bytes", {"type": "string", "like": "00000000"}),
        "string": _Part("string", {"type": "string"}),
    }

    def __init__(self) -> None:
        self._records: dict[str, Members[_Part]] = {}

    def definitions(self) -> dict[str, Any]:
        return {
            name: {
                "type": "object",
                "properties": {field: part.schema for field, part, _default in members},
                "required": [field for field, _part, _default in members],
            }
            for name, members in self._records.items()
        }

    def primitive(self, tree: dict[str, Any]) -> _Part:
        kind, logical = tree["type"], tree.get("logicalType")
        if kind == "bytes" and logical == "decimal":
            return _Part(kind, _decimal(tree, None))
        found = _LOGICAL.get((kind, logical)) if isinstance(logical, str) else None
        return _Part(kind, found or self.primitives[kind].schema)

    def fixed(self, tree: dict[str, Any], name: str) -> _Part:
        size, logical = tree["size"], tree.get("logicalType")
        if logical == "decimal":
            return _Part(name, _decimal(tree, size))
        if logical == "duration" and size == 12:
            return _Part(name, {"const": {"months": 0, "days": 1, "millis": 0}})
        if logical == "uuid" and size == 16:
            return _Part(name, {"type": "string", "format": "uuid"})
        if size > _FIXED_BYTES_MAX:
            raise SchemaInvalid(f"a fixed type has more than {_FIXED_BYTES_MAX} bytes")
        return _Part(name, {"type": "string", "like": "0" * size})

    def enum(self, symbols: list[str], name: str) -> _Part:
        return _Part(name, {"enum": symbols})

    def union(self, branches: list[_Part]) -> _Part:
        others = [branch for branch in branches if branch.name != "null"]
        parts = [branch.schema for branch in branches if branch.name == "null"]
        for branch in others:
            named = {"properties": {branch.name: branch.schema}, "required": [branch.name]}
            parts.append(branch.schema if len(others) == 1 else {"type": "object", **named})
        return _Part("union", {"anyOf": parts})

    def array(self, item: _Part) -> _Part:
        return _Part("array", {"type": "array", "items": item.schema})

    def map(self, item: _Part) -> _Part:
        members = dict.fromkeys(_KEYS, item.schema)
        return _Part("map", {"type": "object", "properties": members})

    def record(self, members: Members[_Part], name: str) -> _Part:
        self._records[name] = members
        return _Part(name, {"$ref": f"#/$defs/{name}"})


def _decimal(tree: dict[str, Any], size: int | None) -> dict[str, Any]:
    """Texts with as many digits as the type has, at most four before the point."""
    scale, precision = tree.get("scale", 0), tree.get("precision")
    scale = scale if isinstance(scale, int) and 0 <= scale <= _SCALE_MAX else 0
    most = precision if isinstance(precision, int) else scale + _DIGITS_BEFORE_POINT
    if size is not None:
        most = min(most, int(size * _DIGITS_OF_BYTE) - 1)
    whole = min(_DIGITS_BEFORE_POINT, most - scale)
    if whole < 1:
        return {"const": "0"}
    return {"type": "string", "like": "0" * whole + ("." + "0" * scale if scale else "")}


def _units(digits: int) -> dict[str, Any]:
    low, high = (seconds * 10**digits for seconds in _LOCAL_SECONDS)
    return {"type": "integer", "minimum": low, "maximum": high}


_MOMENT = {"type": "string", "format": "date-time"}
_LOGICAL: dict[tuple[Any, str], dict[str, Any]] = {
    ("int", "date"): {"type": "string", "format": "date"},
    ("int", "time-millis"): {"type": "integer", "minimum": 0, "maximum": 86_399_999},
    ("long", "time-micros"): {"type": "integer", "minimum": 0, "maximum": 86_399_999_999},
    ("long", "timestamp-millis"): _MOMENT,
    ("long", "timestamp-micros"): _MOMENT,
    ("long", "timestamp-nanos"): _MOMENT,
    ("long", "local-timestamp-millis"): _units(3),
    ("long", "local-timestamp-micros"): _units(6),
    ("long", "local-timestamp-nanos"): _units(9),
    ("string", "uuid"): {"type": "string", "format": "uuid"},
}
