"""Encodes JSON with a schema, for writing records: the opposite of compiled_schema.py. Pure."""

from typing import Any

from monitoring.error_reason import Reason
from monitoring.schema_registry import wire_format
from monitoring.schema_registry.avro_encode import AvroEncoder
from monitoring.schema_registry.compiled_schema import SchemaUnusable
from monitoring.schema_registry.decoding_limits import SchemaInvalid
from monitoring.schema_registry.json_schema_check import JsonSchema
from monitoring.schema_registry.protobuf_encode import ProtobufEncoder
from monitoring.schema_registry.read_schemas import AVRO, JSON, PROTOBUF, Schema
from monitoring.schema_registry.value_errors import ValueDoesNotFit


class NotEncoded(Exception):
    """The value cannot be written with the schema; `reason` says why, without the value."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


class SchemaEncoder:
    def __init__(self, schema: Schema, message: str = "") -> None:
        """`message`: which one of a Protobuf schema; "" = the first. Raises SchemaUnusable."""
        self.schema = schema
        self._header = wire_format.header(schema.id)
        try:
            if schema.type == AVRO:
                self._encoder: Any = AvroEncoder(schema.text, schema.references)
            elif schema.type == PROTOBUF:
                self._encoder = ProtobufEncoder(schema.text, schema.references, message)
            elif schema.type == JSON:
                self._encoder = JsonSchema(schema.text, schema.references)
            else:
                raise SchemaUnusable(Reason("schema_type", id=schema.id, type=schema.type))
        except SchemaInvalid as error:
            raise SchemaUnusable(Reason("schema_invalid", id=schema.id, why=str(error))) from error
        except LookupError as error:
            reason = Reason("schema_message", id=schema.id, name=message)
            raise SchemaUnusable(reason) from error

    def encode(self, value: Any, text: str) -> bytes:
        """The data with the schema's id. `value`: what exact_json reads of `text`, which a JSON
        Schema leaves as it is. Raises NotEncoded."""
        try:
            if self.schema.type == JSON:
                self._encoder.check(value)
                return self._header + text.encode()
            return self._header + bytes(self._encoder.encode(value))
        except ValueDoesNotFit as error:
            raise NotEncoded(error.reason) from error
        except SchemaInvalid as error:
            reason = Reason("schema_invalid", id=self.schema.id, why=str(error))
            raise NotEncoded(reason) from error
        except (RecursionError, UnicodeEncodeError) as error:
            raise NotEncoded(
                ValueDoesNotFit("fewer levels, and only characters of UTF-8").reason
            ) from error
