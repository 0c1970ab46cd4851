"""Converts a schema of the registry to the JSON Schema of its values, for mock_values.py. Pure.

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
from monitoring.error_reason import Reason
from monitoring.schema_registry.avro_compiler import Members, compile_schema
from monitoring.schema_registry.decoding_limits import SchemaInvalid
from monitoring.schema_registry.read_schemas import AVRO, JSON, Schema

_DIGITS_BEFORE_POINT = 4
_DIGITS_OF_BYTE = 2.4  # a little less than log10(256)
_LOCAL_SECONDS = (1_735_689_600, 1_798_761_600)  # 2025 and 2026
_FIXED_BYTES_MAX, _SCALE_MAX = 10_000, 200
_MAP_KEYS = ("amber", "basil")
_NUMBER = {"minimum": 0, "maximum": 1000}


@dataclass(frozen=True, slots=True)
class _Type:
    """A type as JSON Schema; `name` is its name in unions."""

    name: str
    schema: dict[str, Any]


def document_of(schema: Schema) -> Any:
    """The JSON Schema for a registry's schema of any type. Raises InvalidSchema."""
    if schema.type == AVRO:
        return json_schema_of(schema)
    if schema.type != JSON:
        raise InvalidSchema(_("Mock records are made of schemas of Avro and JSON Schema."))
    try:
        return read_json(schema.text)
    except InvalidData as error:
        raise InvalidSchema(str(error)) from error


def json_schema_of(schema: Schema) -> dict[str, Any]:
    """The JSON Schema for an Avro schema. Raises InvalidSchema."""
    types = _TypesAsJsonSchema()
    try:
        part, _tree = compile_schema(types, schema.text, schema.references)
    except SchemaInvalid as error:
        reason = Reason("schema_invalid", id=schema.id, why=str(error))
        raise InvalidSchema(sentence(reason)) from error
    return {**part.schema, "$defs": types.definitions()}


class _TypesAsJsonSchema:
    """The types of an Avro schema as JSON Schema; implements avro_compiler.TypeBuilder."""

    primitives: Mapping[str, _Type] = {
        "null": _Type("null", {"type": "null"}),
        "boolean": _Type("boolean", {"type": "boolean"}),
        "int": _Type("int", {"type": "integer", **_NUMBER}),
        "long": _Type("long", {"type": "integer", **_NUMBER}),
        "float": _Type("float", {"type": "number", **_NUMBER}),
        "double": _Type("double", {"type": "number", **_NUMBER}),
        "bytes": _Type("bytes", {"type": "string", "like": "00000000"}),
        "string": _Type("string", {"type": "string"}),
    }

    def __init__(self) -> None:
        self._records: dict[str, Members[_Type]] = {}

    def definitions(self) -> dict[str, Any]:
        return {
            name: {
                "type": "object",
                "properties": {field: part.schema for field, part, _default in members},
                "required": [field for field, _part, _default in members],
            }
            for name, members in self._records.items()
        }

    def primitive(self, tree: dict[str, Any]) -> _Type:
        kind, logical = tree["type"], tree.get("logicalType")
        if kind == "bytes" and logical == "decimal":
            return _Type(kind, _decimal(tree, size=None))
        found = _LOGICAL.get((kind, logical)) if isinstance(logical, str) else None
        return _Type(kind, found or self.primitives[kind].schema)

    def fixed(self, tree: dict[str, Any], name: str) -> _Type:
        size, logical = tree["size"], tree.get("logicalType")
        if logical == "decimal":
            return _Type(name, _decimal(tree, size))
        if logical == "duration" and size == 12:
            return _Type(name, {"const": {"months": 0, "days": 1, "millis": 0}})
        if logical == "uuid" and size == 16:
            return _Type(name, {"type": "string", "format": "uuid"})
        if size > _FIXED_BYTES_MAX:
            raise SchemaInvalid(f"a fixed type has more than {_FIXED_BYTES_MAX} bytes")
        return _Type(name, {"type": "string", "like": "0" * size})

    def enum(self, symbols: list[str], name: str) -> _Type:
        return _Type(name, {"enum": symbols})

    def union(self, branches: list[_Type]) -> _Type:
        others = [branch for branch in branches if branch.name != "null"]
        parts = [branch.schema for branch in branches if branch.name == "null"]
        for branch in others:
            named = {"properties": {branch.name: branch.schema}, "required": [branch.name]}
            parts.append(branch.schema if len(others) == 1 else {"type": "object", **named})
        return _Type("union", {"anyOf": parts})

    def array(self, item: _Type) -> _Type:
        return _Type("array", {"type": "array", "items": item.schema})

    def map(self, item: _Type) -> _Type:
        members = dict.fromkeys(_MAP_KEYS, item.schema)
        return _Type("map", {"type": "object", "properties": members})

    def record(self, members: Members[_Type], name: str) -> _Type:
        self._records[name] = members
        return _Type(name, {"$ref": f"#/$defs/{name}"})


def _decimal(tree: dict[str, Any], size: int | None) -> dict[str, Any]:
    """Texts with as many digits as the type has, at most four before the point.

    `size`: the bytes of a fixed type; None = any number of bytes.
    """
    scale, precision = tree.get("scale", 0), tree.get("precision")
    scale = scale if isinstance(scale, int) and 0 <= scale <= _SCALE_MAX else 0
    digits_max = precision if isinstance(precision, int) else scale + _DIGITS_BEFORE_POINT
    if size is not None:
        digits_max = min(digits_max, int(size * _DIGITS_OF_BYTE) - 1)
    whole_digits = min(_DIGITS_BEFORE_POINT, digits_max - scale)
    if whole_digits < 1:
        return {"const": "0"}
    return {"type": "string", "like": "0" * whole_digits + ("." + "0" * scale if scale else "")}


def _local_timestamp(digits: int) -> dict[str, Any]:
    """Numbers that are times of two years, in units of 10^-digits seconds."""
    low, high = (seconds * 10**digits for seconds in _LOCAL_SECONDS)
    return {"type": "integer", "minimum": low, "maximum": high}


_DATE_TIME = {"type": "string", "format": "date-time"}
_LOGICAL: dict[tuple[Any, str], dict[str, Any]] = {
    ("int", "date"): {"type": "string", "format": "date"},
    ("int", "time-millis"): {"type": "integer", "minimum": 0, "maximum": 86_399_999},
    ("long", "time-micros"): {"type": "integer", "minimum": 0, "maximum": 86_399_999_999},
    ("long", "timestamp-millis"): _DATE_TIME,
    ("long", "timestamp-micros"): _DATE_TIME,
    ("long", "timestamp-nanos"): _DATE_TIME,
    ("long", "local-timestamp-millis"): _local_timestamp(3),
    ("long", "local-timestamp-micros"): _local_timestamp(6),
    ("long", "local-timestamp-nanos"): _local_timestamp(9),
    ("string", "uuid"): {"type": "string", "format": "uuid"},
}
