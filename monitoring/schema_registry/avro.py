"""Decodes Avro's binary encoding by the schema with which it was written. Pure.

fastavro is not used: a record of a few bytes ends its process (recursion without a limit) or takes
all of its memory (an array of nulls). Here each value has a cost (budget.py).

A schema becomes one function per type, which reads a value from an Input. A union is the value of
its branch alone, without the branch's name, so that `value.member` in masking rules and expressions
means the same as for a record in JSON. Bytes are text of one character a byte, as in Avro's JSON
encoding. Logical types are shown as in avro_logical.py.
"""

import json
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

from monitoring.schema_registry import avro_logical
from monitoring.schema_registry.budget import (
    DEPTH_MAX,
    VALUE_COST,
    Budget,
    DataInvalid,
    SchemaInvalid,
)
from monitoring.schema_registry.floats import plain, plain_32
from monitoring.schema_registry.wire_format import read_zigzag

TYPES_MAX = 20_000  # in one schema with its references
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_NAME_LENGTH_MAX = 1_000


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

    def __init__(self, text: str, references: Sequence[str] = ()) -> None:
        """`references`: the texts of the schemas whose types it names, each after those that it
        names itself. Raises SchemaInvalid."""
        compiler = _Compiler()
        for each in references:
            compiler.compile(_parsed(each), "", 0)
        tree = _parsed(text)
        self._read = compiler.compile(tree, "", 0)
        name = tree.get("name") if isinstance(tree, dict) else None
        self.title = name if _is_text(name) else ""

    def decode(self, data: bytes, at: int) -> Any:
        """The value from byte `at` to the end, as JSON's types. Raises DataInvalid."""
        source = Input(data, at, Budget())
        value = self._read(source)
        if source.at != len(data):
            raise DataInvalid(f"{len(data) - source.at} bytes follow the value")
        return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        # The registry gives the schema of a single type without quotes, such as: string
        if text.strip() in _PRIMITIVES:
            return text.strip()
        raise SchemaInvalid("it is not JSON") from error
    except RecursionError as error:
        raise SchemaInvalid("it is nested too deeply") from error


class _Compiler:
    def __init__(self) -> None:
        self._named: dict[str, Read] = {}
        self._count = 0

    def compile(self, tree: Any, namespace: str, depth: int) -> Read:
        self._count += 1
        if self._count > TYPES_MAX:
            raise SchemaInvalid(f"it has more than {TYPES_MAX} types")
        if depth > DEPTH_MAX:
            raise SchemaInvalid(f"it is nested more than {DEPTH_MAX} times")
        if isinstance(tree, str):
            return self._by_name(tree, namespace)
        if isinstance(tree, list):
            return _union([self.compile(each, namespace, depth + 1) for each in tree])
        if not isinstance(tree, dict) or "type" not in tree:
            raise SchemaInvalid("a type is neither a name, nor an object, nor a list")
        return self._complex(tree, namespace, depth)

    def _complex(self, tree: dict[str, Any], namespace: str, depth: int) -> Read:
        kind = tree["type"]
        if kind in ("record", "error"):
            return self._record(tree, namespace, depth)
        if kind == "array":
            return _array(self.compile(tree.get("items"), namespace, depth + 1))
        if kind == "map":
            return _map(self.compile(tree.get("values"), namespace, depth + 1))
        if kind == "enum":
            return self._add(tree, namespace, _enum(tree.get("symbols")))
        if kind == "fixed":
            size = tree.get("size")
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise SchemaInvalid("a fixed type has no valid size")
            return self._add(tree, namespace, avro_logical.of_fixed(tree, _fixed(size)))
        read = self.compile(kind, namespace, depth + 1)
        return avro_logical.of_primitive(tree, read) if isinstance(kind, str) else read

    def _record(self, tree: dict[str, Any], namespace: str, depth: int) -> Read:
        fields = tree.get("fields")
        if not isinstance(fields, list):
            raise SchemaInvalid("a record has no list of fields")
        members: list[tuple[str, Read]] = []
        read = _record(members)
        name = _full_name(tree, namespace)
        self._add(tree, namespace, read)
        inner = name.rpartition(".")[0]
        for field in fields:
            if not isinstance(field, dict) or not _is_text(field.get("name")):
                raise SchemaInvalid("a field has no valid name")
            members.append((field["name"], self.compile(field.get("type"), inner, depth + 1)))
        return read

    def _add(self, tree: dict[str, Any], namespace: str, read: Read) -> Read:
        name = _full_name(tree, namespace)
        if name in _PRIMITIVES:
            raise SchemaInvalid(f"a type has the name {name}")
        self._named[name] = read
        return read

    def _by_name(self, name: str, namespace: str) -> Read:
        if name in _PRIMITIVES:
            return _PRIMITIVES[name]
        names = [name] if "." in name or not namespace else [f"{namespace}.{name}", name]
        for each in names:
            if each in self._named:
                return self._named[each]
        raise SchemaInvalid(f"it names the unknown type {name[:100]!r}")


def _full_name(tree: dict[str, Any], namespace: str) -> str:
    name, space = tree.get("name"), tree.get("namespace", namespace)
    if not _is_text(name) or not _NAME.fullmatch(name):
        raise SchemaInvalid("a type has no valid name")
    return name if "." in name or not isinstance(space, str) or not space else f"{space}.{name}"


def _is_text(name: Any) -> TypeGuard[str]:
    """Whether a name can be in JSON: not a lone surrogate, for example."""
    return isinstance(name, str) and len(name) <= _NAME_LENGTH_MAX and name.isprintable()


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
    "float": lambda source: plain_32(source.take(4)),
    "double": lambda source: plain(struct.unpack("<d", source.take(8))[0]),
    "bytes": lambda source: _bytes(source).decode("latin-1"),
    "string": _string,
}


def _fixed(size: int) -> Read:
    return lambda source: source.take(size).decode("latin-1")


def _enum(symbols: Any) -> Read:
    if not isinstance(symbols, list) or not all(map(_is_text, symbols)):
        raise SchemaInvalid("an enum has no valid list of symbols")

    def read(source: Input) -> str:
        index = _long(source)
        if not 0 <= index < len(symbols):
            raise DataInvalid("an enum has no symbol of this number")
        symbol: str = symbols[index]
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


def _record(members: list[tuple[str, Read]]) -> Read:
    """`members` may be filled later."""

    def read(source: Input) -> dict[str, Any]:
        budget = source.budget
        budget.enter()
        value = {}
        for name, member in members:
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
