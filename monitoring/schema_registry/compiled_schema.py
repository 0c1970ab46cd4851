"""A schema that is ready to decode records: of Avro, Protobuf or JSON. Pure."""

import json
from dataclasses import dataclass
from typing import Any

import orjson

from monitoring.error_reason import Reason
from monitoring.schema_registry.avro_decode import AvroSchema
from monitoring.schema_registry.decoding_limits import DATA_BYTES_MAX, DataInvalid, SchemaInvalid
from monitoring.schema_registry.protobuf_decode import ProtobufSchema
from monitoring.schema_registry.read_schemas import AVRO, JSON, PROTOBUF, Schema
from monitoring.schema_registry.wire_format import HEADER_BYTES

_TITLE_LENGTH_MAX = 200


class SchemaUnusable(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Decoded:
    """Data as JSON, or the `problem`; `title` is the name of their type."""

    json: bytes | None
    title: str = ""
    problem: str = ""


class CompiledSchema:
    def __init__(self, schema: Schema) -> None:
        """Raises SchemaUnusable."""
        self.id, self.type = schema.id, schema.type
        self.subject, self.version = schema.subject, schema.version
        self.size_chars = schema.size_chars
        self._avro: AvroSchema | None = None
        self._protobuf: ProtobufSchema | None = None
        self._title = ""
        try:
            if schema.type == AVRO:
                self._avro = AvroSchema(schema.text, schema.references)
                self._title = self._avro.title
            elif schema.type == PROTOBUF:
                self._protobuf = ProtobufSchema(schema.text, schema.references)
            elif schema.type == JSON:
                self._title = _json_title(schema.text)
            else:
                raise SchemaUnusable(Reason("schema_type", id=schema.id, type=schema.type))
        except SchemaInvalid as error:
            raise SchemaUnusable(Reason("schema_invalid", id=schema.id, why=str(error))) from error

    def decode(self, data: bytes) -> Decoded:
        """Decode data that begin with this schema's id. Never raises."""
        if len(data) > DATA_BYTES_MAX:
            problem = Reason("schema_data_size", max=DATA_BYTES_MAX)
            return Decoded(json=None, title=self._title, problem=problem)
        try:
            return self._decode(data)
        except DataInvalid as error:
            why = str(error)
        except (RecursionError, MemoryError):  # the limits should not let it come so far
            why = "they are too large"
        problem = Reason("schema_data", id=self.id, why=why)
        return Decoded(json=None, title=self._title, problem=problem)

    def _decode(self, data: bytes) -> Decoded:
        if self._avro is not None:
            return Decoded(orjson.dumps(self._avro.decode(data, HEADER_BYTES)), self._title)
        if self._protobuf is not None:
            value, name = self._protobuf.decode(data, HEADER_BYTES)
            return Decoded(orjson.dumps(value), name[:_TITLE_LENGTH_MAX])
        body = data[HEADER_BYTES:]
        if not _is_json(body):
            raise DataInvalid("they are not JSON")
        return Decoded(body, self._title)


def _is_json(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except ValueError:
        try:
            json.loads(body)  # integers beyond 64 bits
        except (ValueError, RecursionError):
            return False
    return True


def _json_title(text: str) -> str:
    try:
        schema: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaInvalid("it is not JSON") from error
    title = schema.get("title", "") if isinstance(schema, dict) else ""
    return title[:_TITLE_LENGTH_MAX] if isinstance(title, str) and title.isprintable() else ""
