"""Encodes JSON as Protobuf messages by a schema. Pure.

The opposite of protobuf_decode.py: fields by their name of the .proto text or in lowerCamelCase;
numbers of 64 bits are numbers or texts; bytes are base64; an enum is a name or a number; well-known
types are as in Protobuf's JSON format (encode_well_known_types.py). Repeated numbers are packed,
which all readers understand. A field that is null or missing is not written; `required` of proto2
is not checked.
"""

import base64
import binascii
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from monitoring.schema_registry import encode_well_known_types
from monitoring.schema_registry.floats import packed_float
from monitoring.schema_registry.proto_types import BYTES, Enum, Field, Message
from monitoring.schema_registry.protobuf_decode import ProtobufSchema
from monitoring.schema_registry.value_errors import ValueBudget, ValueDoesNotFit, one_of, utf8
from monitoring.schema_registry.wire_format import encode_indexes, varint

_FIXED = {
    "fixed32": "<I", "sfixed32": "<i", "float": "<f", "fixed64": "<Q", "sfixed64": "<q",
    "double": "<d",
}  # fmt: skip


class ProtobufEncoder:
    def __init__(self, text: str, references: Sequence[tuple[str, str]], name: str) -> None:
        """`name`: the message, as in the .proto text or with its package; "" = the first. Raises
        SchemaInvalid, and LookupError if there is no such message."""
        file = ProtobufSchema(text, references).file
        for indexes, message in _messages(file.messages, ()):
            if not name or name in (message.full_name, _within_package(message, file.package)):
                self._indexes, self._root = indexes, message
                break
        else:
            raise LookupError
        self._fields: dict[str, dict[str, Field]] = {}

    def encode(self, value: Any) -> bytes:
        """The message after its message indexes. Raises ValueDoesNotFit."""
        data = self._message(self._root, value, ValueBudget())
        return encode_indexes(self._indexes) + data

    def _message(self, message: Message, value: Any, budget: ValueBudget) -> bytes:
        fields = encode_well_known_types.fields_of(message.full_name, value)
        if not isinstance(fields, dict):
            raise ValueDoesNotFit(f"message {message.full_name}")
        by_name = self._fields_of(message)
        data = bytearray()
        oneofs: set[str] = set()
        numbers_set: set[int] = set()
        for name, inner in fields.items():
            field = by_name.get(name)
            with budget.within(name):
                if field is None:
                    raise ValueDoesNotFit(why=f"{message.full_name} has no such field")
                if field.number in numbers_set:
                    raise ValueDoesNotFit(why="the field is there twice")
                numbers_set.add(field.number)
                if inner is None and not _takes_null(field):
                    continue
                if field.oneof and field.oneof in oneofs:
                    raise ValueDoesNotFit(why=f"another field of the oneof “{field.oneof}” is set")
                oneofs.add(field.oneof)
                data += self._field(field, inner, budget)
        return bytes(data)

    def _fields_of(self, message: Message) -> dict[str, Field]:
        """Fields by both of their names."""
        found = self._fields.get(message.full_name)
        if found is None:
            found = {_camel(each.name): each for each in message.fields}
            found |= {each.name: each for each in message.fields}
            self._fields[message.full_name] = found
        return found

    def _field(self, field: Field, value: Any, budget: ValueBudget) -> bytes:
        if field.map_key:
            return self._map(field, value, budget)
        if not field.is_repeated:
            data = self._single(field, value, budget)
            # Numbers: all bytes zero; others: empty.
            is_zero = not (data if field.wire_type == BYTES else data.strip(b"\0"))
            return b"" if is_zero and not field.has_presence else _tagged(field, data)
        if not isinstance(value, list):
            raise ValueDoesNotFit("array")
        written, is_tagged = bytearray(), field.wire_type == BYTES  # numbers are packed
        for number, each in enumerate(value):
            with budget.within(number):
                data = self._single(field, each, budget)
            written += _tagged(field, data) if is_tagged else data
        return bytes(written) if is_tagged or not written else _bytes_field(field, written)

    def _map(self, field: Field, value: Any, budget: ValueBudget) -> bytes:
        if not isinstance(value, dict):
            raise ValueDoesNotFit("map")
        key_field, value_field = field.entry()
        written = bytearray()
        for key, each in value.items():
            with budget.within(key):
                is_bool = key_field.type == "bool"
                typed = {"true": True, "false": False}.get(key, key) if is_bool else key
                entry = _tagged(key_field, self._single(key_field, typed, budget))
                entry += _tagged(value_field, self._single(value_field, each, budget))
            written += _bytes_field(field, entry)
        return bytes(written)

    def _single(self, field: Field, value: Any, budget: ValueBudget) -> bytes:
        """The bytes of one value."""
        if field.message is not None:
            return self._message(field.message, value, budget)
        if field.enum is not None:
            return varint(_enum(field.enum, value) & (1 << 64) - 1)
        kind = field.type
        if kind == "string":
            return utf8(value)
        if kind == "bytes":
            return _base64(value)
        if kind == "bool":
            if not isinstance(value, bool):
                raise ValueDoesNotFit("bool")
            return bytes((value,))
        if kind in ("float", "double"):
            return packed_float(value, _FIXED[kind], kind)
        return _integer(kind, value)


def _messages(
    messages: Sequence[Message], path: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Message]]:
    """(message indexes, message) of each message, nested ones too; the indexes as Java's serializer
    counts them (proto_types.message_at)."""
    for number, message in enumerate(messages):
        yield (*path, number), message
        yield from _messages(message.messages, (*path, number))


def _within_package(message: Message, package: str) -> str:
    return message.full_name.removeprefix(f"{package}.") if package else message.full_name


def _takes_null(field: Field) -> bool:
    is_value = (
        field.message is not None and field.message.full_name == encode_well_known_types.VALUE
    )
    return is_value and not field.is_repeated and not field.map_key


def _tagged(field: Field, data: bytes) -> bytes:
    """A value with its tag."""
    if field.wire_type == BYTES:
        return _bytes_field(field, data)
    return varint(field.number << 3 | field.wire_type) + data


def _bytes_field(field: Field, data: bytes | bytearray) -> bytes:
    """A field with a length: a text, bytes, a message, an entry of a map, or packed numbers."""
    return varint(field.number << 3 | BYTES) + varint(len(data)) + data


def _enum(enum: Enum, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and -(1 << 31) <= value < 1 << 31:
        return value
    if isinstance(value, str) and value in enum.numbers:
        return enum.numbers[value]
    raise ValueDoesNotFit(one_of(list(enum.values.values())))


def _base64(value: Any) -> bytes:
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise ValueDoesNotFit("bytes in base64")


def _integer(kind: str, value: Any) -> bytes:
    bits = 64 if kind.endswith("64") else 32
    is_unsigned = kind.startswith(("u", "fixed"))
    low, high = (0, 1 << bits) if is_unsigned else (-(1 << bits - 1), 1 << bits - 1)
    is_text = isinstance(value, str) and value.isascii() and len(value) <= 20
    if is_text and value.removeprefix("-").isdigit():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
        raise ValueDoesNotFit(f"{kind}, a whole number of {bits} bits")
    if kind in _FIXED:
        return struct.pack(_FIXED[kind], value)
    if kind.startswith("s"):
        return varint((value << 1) ^ (value >> bits - 1))
    return varint(value & (1 << 64) - 1)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
