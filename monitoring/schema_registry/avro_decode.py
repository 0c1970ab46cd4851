"""Decodes Avro's binary encoding by the schema with which it was written. Pure.

fastavro is not used: a record of a few bytes ends its process (recursion without a limit) or takes
all of its memory (an array of nulls). Here each value has a cost (decoding_limits.py).

A schema becomes one function per type, which reads a value from an Input. A union is the value of
its branch alone, without the branch's name, so that `value.member` in masking rules and expressions
means the same as for a record in JSON. Bytes are text of one character a byte, as in Avro's JSON
encoding. Logical types are shown as in avro_logical.py.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

from monitoring.schema_registry import avro_logical
from monitoring.schema_registry.avro_compiler import Members, compile_schema, is_usable_name
from monitoring.schema_registry.decoding_limits import VALUE_COST, Budget, DataInvalid
from monitoring.schema_registry.floats import json_float, json_float32
from monitoring.schema_registry.wire_format import read_zigzag


class Input:
    """The bytes of one record, and how far they are read."""

    __slots__ = ("at", "budget", "data")

    def __init__(self, data: bytes, at: int, budget: Budget) -> None:
        self.data, self.at, self.budget = data, at, budget

    def take(self, count: int) -> bytes:
        """Raises DataInvalid."""
        start, end = self.at, self.at + count
        if count < 0 or end > len(self.data):
            raise DataInvalid("the data end within a value")
        self.at = end
        return self.data[start:end]


Read = Callable[[Input], Any]


class AvroSchema:
    """A compiled schema."""

    def __init__(self, text: str, references: Sequence[tuple[str, str]] = ()) -> None:
        """`references` as in avro_compiler.compile_schema. Raises SchemaInvalid."""
        self._read, tree = compile_schema(_ReaderBuilder(), text, references)
        name = tree.get("name") if isinstance(tree, dict) else None
        self.title = name if is_usable_name(name) else ""

    def decode(self, data: bytes, at: int) -> Any:
        """The value from byte `at` to the end, as JSON's types. Raises DataInvalid."""
        source = Input(data, at, Budget())
        value = self._read(source)
        if source.at != len(data):
            raise DataInvalid(f"{len(data) - source.at} bytes follow the value")
        return value


def _long(source: Input) -> int:
    data, at = source.data, source.at
    if at < len(data) and data[at] < 0x80:  # one byte: the most common length
        source.at = at + 1
        return (data[at] >> 1) ^ -(data[at] & 1)
    number, source.at = read_zigzag(data, at)
    return number


def _boolean(source: Input) -> bool:
    byte = source.take(1)[0]
    if byte > 1:
        raise DataInvalid("a boolean is neither 0 nor 1")
    return byte == 1


def _bytes(source: Input) -> bytes:
    return source.take(_long(source))


def _string(source: Input) -> str:
    return source.take(_long(source)).decode(errors="replace")


_PRIMITIVES: dict[str, Read] = {
    "null": lambda source: None,
    "boolean": _boolean,
    "int": _long,
    "long": _long,
    "float": lambda source: json_float32(source.take(4)),
    "double": lambda source: json_float(struct.unpack("<d", source.take(8))[0]),
    "bytes": lambda source: _bytes(source).decode("latin-1"),
    "string": _string,
}


def _fixed(size: int) -> Read:
    return lambda source: source.take(size).decode("latin-1")


def _enum(symbols: list[str]) -> Read:
    def read(source: Input) -> str:
        index = _long(source)
        if not 0 <= index < len(symbols):
            raise DataInvalid("an enum has no symbol of this number")
        symbol = symbols[index]
        source.budget.spend(len(symbol))
        return symbol

    return read


def _union(branches: list[Read]) -> Read:
    def read(source: Input) -> Any:
        index = _long(source)
        if not 0 <= index < len(branches):
            raise DataInvalid("a union has no branch of this number")
        return branches[index](source)

    return read


def _record(members: Members[Read]) -> Read:
    def read(source: Input) -> dict[str, Any]:
        budget = source.budget
        budget.enter()
        value = {}
        for name, member, _default in members:
            budget.spend(VALUE_COST + len(name))
            value[name] = member(source)
        budget.leave()
        return value

    return read


def _block(source: Input) -> int:
    """The number of items of the next block."""
    count = _long(source)
    if count < 0:
        _long(source)  # the block's size in bytes
        count = -count
    source.budget.spend(count * VALUE_COST)
    return count


def _array(item: Read) -> Read:
    def read(source: Input) -> list[Any]:
        source.budget.enter()
        values: list[Any] = []
        while count := _block(source):
            values += [item(source) for _ in range(count)]
        source.budget.leave()
        return values

    return read


def _map(item: Read) -> Read:
    def read(source: Input) -> dict[str, Any]:
        source.budget.enter()
        values = {}
        while count := _block(source):
            for _ in range(count):
                key = _string(source)
                values[key] = item(source)
        source.budget.leave()
        return values

    return read


class _ReaderBuilder:
    """Builds the readers of a schema's types (avro_compiler.TypeBuilder)."""

    primitives = _PRIMITIVES

    def primitive(self, tree: dict[str, Any]) -> Read:
        return avro_logical.of_primitive(tree, _PRIMITIVES[tree["type"]])

    def fixed(self, tree: dict[str, Any], name: str) -> Read:
        return avro_logical.of_fixed(tree, _fixed(tree["size"]))

    def enum(self, symbols: list[str], name: str) -> Read:
        return _enum(symbols)

    def union(self, branches: list[Read]) -> Read:
        return _union(branches)

    def array(self, item: Read) -> Read:
        return _array(item)

    def map(self, item: Read) -> Read:
        return _map(item)

    def record(self, members: Members[Read], name: str) -> Read:
        return _record(members)
