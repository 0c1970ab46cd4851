"""Decodes Protobuf messages by their schema, as JSON's types. Pure.

The library protobuf is not used for this: two bytes, an empty message within a message, can take as
much memory as the schema has fields. Here each value has a cost (decoding_limits.py).

Fields have their names of the .proto text. Numbers are numbers, also those of 64 bits; bytes are in
base64; an enum is its value's name, or the number if it has none. Fields that the schema does not
have are left out. Well-known types are shown as in protobuf_well_known_types.py.
"""

import base64
import struct
from collections.abc import Sequence
from typing import Any

from monitoring.schema_registry import proto_descriptor, proto_text, protobuf_well_known_types
from monitoring.schema_registry.decoding_limits import DEPTH_MAX, VALUE_COST, Budget, DataInvalid
from monitoring.schema_registry.floats import json_float, json_float32
from monitoring.schema_registry.proto_types import (
    BYTES,
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    VARINT,
    Field,
    File,
    Message,
    Types,
    message_at,
)
from monitoring.schema_registry.wire_format import message_indexes, read_varint

_IMPORTS_MAX = 100
_Fields = dict[Any, Any]
"""Values by the names of fields, and the name of the field that is set by ("oneof", its name)."""


class ProtobufSchema:
    """A compiled schema."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]] = ()) -> None:
        """`references`: import paths and texts. Raises SchemaInvalid."""
        self.file = _parsed(text)
        files = {name: _parsed(each) for name, each in references}
        _add_known(files, self.file)
        self._types = Types([*files.values(), self.file])
        self._readers: dict[str, _MessageReader] = {}

    def decode(self, data: bytes, at: int) -> tuple[Any, str]:
        """The message from byte `at` to the end, and its type's name. Raises DataInvalid."""
        indexes, at = message_indexes(data, at)
        message = message_at(self.file, indexes)
        if message is None:
            raise DataInvalid("the schema has no message at the record's message indexes")
        source = _Source(data, Budget(), self)
        return self.reader(message).value(source, at, len(data)), message.full_name

    def reader(self, message: Message) -> "_MessageReader":
        found = self._readers.get(message.full_name)
        if found is None:
            found = self._readers[message.full_name] = _MessageReader(message)
        return found

    def by_name(self, name: str) -> Message | None:
        return self._types.messages.get(name)


class _Source:
    """The record that is decoded."""

    __slots__ = ("budget", "data", "schema")

    def __init__(self, data: bytes, budget: Budget, schema: ProtobufSchema) -> None:
        self.data, self.budget, self.schema = data, budget, schema


def _parsed(text: str) -> File:
    return proto_descriptor.from_base64(text) or proto_text.parse(text)


def _add_known(files: dict[str, File], file: File) -> None:
    """Add the imports that the registry does not have, and theirs. Others may be needed for
    options only, which are not read."""
    wanted = [path for each in (file, *files.values()) for path in each.imports]
    for _ in range(_IMPORTS_MAX):
        if not wanted:
            return
        path = wanted.pop()
        known = None if path in files else proto_descriptor.known_import(path)
        if known is not None:
            files[path] = known
            wanted += known.imports


class _MessageReader:
    """Reads messages of one type."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._by_number = {each.number: each for each in message.fields}
        self._defaults = [
            (each.name, _default(each)) for each in message.fields if not each.has_presence
        ]
        self._cost = VALUE_COST + sum(
            VALUE_COST + len(name) + len(str(default)) for name, default in self._defaults
        )
        self._positions = {each.name: number for number, each in enumerate(message.fields)}
        self._entry_readers: dict[str, _MessageReader] = {}
        self._presentation = protobuf_well_known_types.PRESENTATIONS.get(message.full_name)

    def value(self, source: _Source, at: int, end: int) -> Any:
        """A whole message. Raises DataInvalid."""
        fields: _Fields = {}
        self._read(source, at, end, fields, group=0)
        return self._as_json(source, fields)

    def _as_json(self, source: _Source, fields: _Fields) -> Any:
        source.budget.spend(self._cost)
        for name, default in self._defaults:
            if name not in fields:
                fields[name] = default() if callable(default) else default
        names = sorted(fields.keys() & self._positions.keys(), key=self._positions.__getitem__)
        shown = {name: fields[name] for name in names}
        if self._message.full_name == protobuf_well_known_types.ANY:
            return self._any(source, shown)
        if self._presentation is None:
            return shown
        try:
            return self._presentation(shown)
        except (KeyError, TypeError, ValueError):  # the schema has a type of its own of this name
            return shown

    def _any(self, source: _Source, fields: dict[str, Any]) -> Any:
        """The message within; one text if its type is unknown, so that a masking rule for a member
        of it masks the whole."""
        url, data = str(fields.get("type_url", "")), str(fields.get("value", ""))
        message = source.schema.by_name(url.rpartition("/")[2])
        if message is None:
            return f"{url} {data}"
        try:
            inner = base64.b64decode(data)
        except ValueError:  # the schema has a type of its own of this name
            return f"{url} {data}"
        source.budget.enter()
        reader = source.schema.reader(message)
        value = reader.value(_Source(inner, source.budget, source.schema), 0, len(inner))
        source.budget.leave()
        return {"@type": url} | (value if isinstance(value, dict) else {"value": value})

    def _read(self, source: _Source, at: int, end: int, fields: _Fields, group: int) -> int:
        """Read fields up to `end`, or up to the end of group number `group`."""
        data = source.data
        source.budget.enter()
        while at < end:
            tag, at = read_varint(data, at)
            number, wire_type = tag >> 3, tag & 7
            if wire_type == END_GROUP:
                if number != group:
                    raise DataInvalid("a group ends that did not begin")
                source.budget.leave()
                return at
            field = self._by_number.get(number)
            if field is None or not _fits(field, wire_type):
                at = _skip(data, at, end, wire_type, number, 0)
            else:
                at = self._field(source, at, end, wire_type, field, fields)
        if group or at > end:
            raise DataInvalid("the data end within a message")
        source.budget.leave()
        return at

    def _field(
        self, source: _Source, at: int, end: int, wire_type: int, field: Field,
        fields: _Fields,
    ) -> int:  # fmt: skip
        budget = source.budget
        budget.spend(VALUE_COST + (0 if field.is_repeated else len(field.name)))
        if wire_type == GROUP and field.message is not None:
            inner: _Fields = {}
            reader = source.schema.reader(field.message)
            at = reader._read(source, at, end, inner, group=field.number)
            self._set(fields, field, reader._as_json(source, inner))
            return at
        if wire_type != BYTES:
            value, at = _number(source, at, end, wire_type, field)
            self._set(fields, field, value)
            return at
        start, at = _length(source.data, at, end)
        if field.map_key:
            self._entry(source, start, at, field, fields)
        elif field.message is not None:
            value = source.schema.reader(field.message).value(source, start, at)
            self._set(fields, field, value)
        elif field.type in ("string", "bytes"):
            self._set(fields, field, _text(source.data[start:at], field.type))
        else:
            values = fields.setdefault(field.name, [])
            while start < at:
                budget.spend(VALUE_COST)
                value, start = _number(source, start, at, field.wire_type, field)
                values.append(value)
        return at

    def _set(self, fields: _Fields, field: Field, value: Any) -> None:
        if field.is_repeated:
            fields.setdefault(field.name, []).append(value)
            return
        if field.oneof:
            chosen = ("oneof", field.oneof)
            fields.pop(fields.get(chosen), None)  # the last one holds
            fields[chosen] = field.name
        fields[field.name] = value

    def _entry(self, source: _Source, at: int, end: int, field: Field, fields: _Fields) -> None:
        """One entry of a map: a message with the fields 1 and 2."""
        reader = self._entry_readers.get(field.name)
        if reader is None:
            message = Message("", fields=list(field.entry()))
            reader = self._entry_readers[field.name] = _MessageReader(message)
        entry: dict[str, Any] = reader.value(source, at, end)
        if "value" not in entry and field.message is not None:
            entry["value"] = source.schema.reader(field.message).value(source, end, end)
        key_value = entry["key"]
        text = str(key_value).lower() if isinstance(key_value, bool) else str(key_value)
        fields.setdefault(field.name, {})[text] = entry["value"]


def _default(field: Field) -> Any:
    """The value of a field that is not set; a type where each needs one of its own."""
    if field.map_key:
        return dict
    if field.is_repeated:
        return list
    if field.enum is not None:
        return field.enum.values.get(0, 0)
    if field.type in ("string", "bytes"):
        return ""
    return False if field.type == "bool" else 0


def _fits(field: Field, wire_type: int) -> bool:
    """Whether a field can be written so; repeated numbers can be packed."""
    if field.message is not None:
        return wire_type == BYTES or (wire_type == GROUP and not field.map_key)
    if field.map_key:
        return wire_type == BYTES
    return wire_type == field.wire_type or (wire_type == BYTES and field.is_repeated)


def _length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Start and end of what is prefixed with its length."""
    size, at = read_varint(data, at)
    if at + size > end:
        raise DataInvalid("the data end within a value")
    return at, at + size


def _text(data: bytes, kind: str) -> str:
    if kind == "bytes":
        return base64.b64encode(data).decode()
    return data.decode(errors="replace")


def _number(source: _Source, at: int, end: int, wire_type: int, field: Field) -> tuple[Any, int]:
    data = source.data
    if wire_type == VARINT:
        raw, at = read_varint(data, at)
        if at > end:
            raise DataInvalid("the data end within a number")
        value = _of_varint(raw, field)
        if isinstance(value, str):
            source.budget.spend(len(value))  # the name of an enum's value
        return value, at
    size = 8 if wire_type == FIXED64 else 4
    if at + size > end:
        raise DataInvalid("the data end within a number")
    part = data[at : at + size]
    if field.type == "float":
        return json_float32(part), at + size
    if field.type == "double":
        return json_float(struct.unpack("<d", part)[0]), at + size
    is_signed = field.type.startswith("s")
    return int.from_bytes(part, "little", signed=is_signed), at + size


def _of_varint(raw: int, field: Field) -> Any:
    if field.enum is not None:
        number = _signed(raw, 32)
        return field.enum.values.get(number, number)
    kind = field.type
    if kind == "bool":
        return raw != 0
    bits = 32 if kind.endswith("32") else 64
    if kind.startswith("s"):
        raw &= (1 << bits) - 1
        return (raw >> 1) ^ -(raw & 1)
    return raw & ((1 << bits) - 1) if kind.startswith("u") else _signed(raw, bits)


def _signed(raw: int, bits: int) -> int:
    raw &= (1 << bits) - 1
    return raw - (1 << bits) if raw >> (bits - 1) else raw


def _skip(data: bytes, at: int, end: int, wire_type: int, number: int, depth: int) -> int:
    """Where a field ends that is not read."""
    if wire_type == VARINT:
        _value, at = read_varint(data, at)
    elif wire_type == BYTES:
        _start, at = _length(data, at, end)
    elif wire_type in (FIXED64, FIXED32):
        at += 8 if wire_type == FIXED64 else 4
    elif wire_type == GROUP and depth < DEPTH_MAX:
        return _skip_group(data, at, end, number, depth)
    else:
        raise DataInvalid("a field has an unknown wire type")
    if at > end:
        raise DataInvalid("the data end within a value")
    return at


def _skip_group(data: bytes, at: int, end: int, number: int, depth: int) -> int:
    while at < end:
        tag, at = read_varint(data, at)
        if tag & 7 == END_GROUP:
            if tag >> 3 != number:
                break
            return at
        at = _skip(data, at, end, tag & 7, tag >> 3, depth + 1)
    raise DataInvalid("a group does not end")
