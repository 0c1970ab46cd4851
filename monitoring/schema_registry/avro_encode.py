"""Encodes JSON in Avro's binary encoding by a schema. Pure.

The opposite of avro_decode.py. It accepts the JSON that avro_decode.py makes, except a value that
fits several branches of a union. A value of a union is written as in Avro's JSON encoding, with the
name of the branch ({"string": "x"}), or plain if it fits only one branch. A missing field gets
its default; a member that the schema does not have is an error, since it would be lost. Numbers are
int or Decimal.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from monitoring.schema_registry import avro_logical_encode
from monitoring.schema_registry.avro_compiler import NO_DEFAULT, Members, compile_schema
from monitoring.schema_registry.decoding_limits import DATA_BYTES_MAX
from monitoring.schema_registry.floats import packed_float
from monitoring.schema_registry.value_errors import (
    Exhausted,
    ValueBudget,
    ValueDoesNotFit,
    one_of,
    utf8,
)
from monitoring.schema_registry.wire_format import zigzag


class Output:
    """The bytes of one record. `is_default`: a default value of the schema is written, in which
    logical types count for nothing."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.budget = ValueBudget()
        self.is_default = False

    def within(self, part: str | int | None) -> AbstractContextManager[None]:
        """Enter a nested value: count it and its depth (ValueBudget), and put `part` in front of an
        error's path (None = nothing).

        Raises Exhausted also for too many bytes, since a few typed ones may have large defaults.
        """
        if len(self.data) > DATA_BYTES_MAX:
            raise Exhausted(f"at most {DATA_BYTES_MAX} bytes")
        return self.budget.within(part)


@dataclass(slots=True)
class Writer:
    """Writes values of one type. `name` is the one in unions, `label` what an error expects."""

    name: str
    label: str
    write: Callable[[Output, Any], None]


class AvroEncoder:
    def __init__(self, text: str, references: Sequence[tuple[str, str]] = ()) -> None:
        """`references` as in avro_compiler.compile_schema. Raises SchemaInvalid."""
        self._writer, _tree = compile_schema(_WriterBuilder(), text, references)

    def encode(self, value: Any) -> bytes:
        """Raises ValueDoesNotFit."""
        output = Output()
        self._writer.write(output, value)
        return bytes(output.data)


def _boolean(output: Output, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueDoesNotFit("boolean")
    output.data.append(value)


def _null(output: Output, value: Any) -> None:
    if value is not None:
        raise ValueDoesNotFit("null")


def _integer(kind: str, bits: int) -> Callable[[Output, Any], None]:
    limit = 1 << (bits - 1)

    def write(output: Output, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
            raise ValueDoesNotFit(f"{kind}, a whole number of {bits} bits")
        output.data += zigzag(value)

    return write


def _float(kind: str, code: str) -> Callable[[Output, Any], None]:
    def write(output: Output, value: Any) -> None:
        output.data += packed_float(value, code, kind)

    return write


def _as_bytes(value: Any, label: str) -> bytes:
    try:
        if isinstance(value, str):
            return value.encode("latin-1")
    except UnicodeEncodeError:
        pass
    raise ValueDoesNotFit(label)


def _bytes(output: Output, value: Any) -> None:
    data = _as_bytes(value, "bytes, as a text of one character a byte (U+0000 to U+00FF)")
    output.data += zigzag(len(data)) + data


def _string(output: Output, value: Any) -> None:
    data = utf8(value)
    output.data += zigzag(len(data)) + data


_PRIMITIVES = {
    name: Writer(name, name, write)
    for name, write in {
        "null": _null, "boolean": _boolean, "int": _integer("int", 32),
        "long": _integer("long", 64), "float": _float("float", "<f"),
        "double": _float("double", "<d"), "bytes": _bytes, "string": _string,
    }.items()
}  # fmt: skip


class _WriterBuilder:
    """Builds the writers of a schema's types (avro_compiler.TypeBuilder)."""

    primitives = _PRIMITIVES

    def primitive(self, tree: dict[str, Any]) -> Writer:
        writer = _PRIMITIVES[tree["type"]]
        return _logical(writer, avro_logical_encode.of_primitive(tree))

    def fixed(self, tree: dict[str, Any], name: str) -> Writer:
        size = tree["size"]
        label = f"{name}, a text of {size} characters (U+0000 to U+00FF)"

        def write(output: Output, value: Any) -> None:
            data = _as_bytes(value, label)
            if len(data) != size:
                raise ValueDoesNotFit(label)
            output.data += data

        return _logical(Writer(name, label, write), avro_logical_encode.of_fixed(tree))

    def enum(self, symbols: list[str], name: str) -> Writer:
        numbers = {symbol: number for number, symbol in enumerate(symbols)}
        label = one_of(symbols)

        def write(output: Output, value: Any) -> None:
            if not isinstance(value, str) or value not in numbers:
                raise ValueDoesNotFit(label)
            output.data += zigzag(numbers[value])

        return Writer(name, label, write)

    def union(self, branches: list[Writer]) -> Writer:
        label = one_of([branch.label for branch in branches])
        return Writer("union", label, lambda output, value: _union(branches, label, output, value))

    def array(self, item: Writer) -> Writer:
        def write(output: Output, value: Any) -> None:
            if not isinstance(value, list):
                raise ValueDoesNotFit("array")
            if value:
                output.data += zigzag(len(value))
            for number, each in enumerate(value):
                with output.within(number):
                    item.write(output, each)
            output.data.append(0)

        return Writer("array", "array", write)

    def map(self, item: Writer) -> Writer:
        def write(output: Output, value: Any) -> None:
            if not isinstance(value, dict):
                raise ValueDoesNotFit("map")
            if value:
                output.data += zigzag(len(value))
            for key, each in value.items():
                with output.within(key):
                    _string(output, key)
                    item.write(output, each)
            output.data.append(0)

        return Writer("map", "map", write)

    def record(self, members: Members[Writer], name: str) -> Writer:
        label = f"record {name}"

        def write(output: Output, value: Any) -> None:
            if not isinstance(value, dict):
                raise ValueDoesNotFit(label)
            _record(members, output, value)

        return Writer(name, label, write)


def _record(members: Members[Writer], output: Output, value: dict[str, Any]) -> None:
    unknown = value.keys() - {name for name, _writer, _default in members}
    for name, writer, default in members:
        with output.within(name):
            if name in value:
                writer.write(output, value[name])
            elif default is NO_DEFAULT:
                raise ValueDoesNotFit(why=f"it is missing; expected {writer.label}")
            else:
                was_default, output.is_default = output.is_default, True
                writer.write(output, default)
                output.is_default = was_default
    if unknown:
        with output.within(min(unknown)):
            raise ValueDoesNotFit(why="the schema has no such field")


def _union(branches: list[Writer], label: str, output: Output, value: Any) -> None:
    """The branch that is named, else the only one that takes the value."""
    if isinstance(value, dict) and len(value) == 1:
        [(name, inner)] = value.items()
        for number, branch in enumerate(branches):
            is_named = name in (branch.name, branch.name.rpartition(".")[2])
            data = _tried(branch, output, inner)[0] if is_named else None
            if data is not None:
                output.data += zigzag(number) + data
                return
    found: list[tuple[int, bytes]] = []
    errors: list[ValueDoesNotFit] = []
    for number, branch in enumerate(branches):
        data, error = _tried(branch, output, value)
        if data is not None:
            found.append((number, data))
        elif error is not None:
            errors.append(error)
    if output.is_default:
        # A default belongs to the first branch. Newer versions of Avro allow any branch: then it is
        # the first that the value fits.
        del found[1:]
    if len(found) > 1:
        names = [branches[number].name for number, _data in found]
        raise ValueDoesNotFit(f'the name of its branch, {{"{names[0]}": …}} or {{"{names[1]}": …}}')
    if not found:
        raise _closest(errors, label)
    output.data += zigzag(found[0][0]) + found[0][1]


def _tried(
    branch: Writer, output: Output, value: Any
) -> tuple[bytes | None, ValueDoesNotFit | None]:
    """The bytes of a value in a branch, or why it does not take it."""
    data_before, output.data = output.data, bytearray()
    was_default = output.is_default
    try:
        with output.within(part=None):
            branch.write(output, value)
        return bytes(output.data), None
    except Exhausted:
        raise
    except ValueDoesNotFit as error:
        return None, error
    finally:
        output.data, output.is_default = data_before, was_default


def _closest(errors: list[ValueDoesNotFit], label: str) -> ValueDoesNotFit:
    """The error of the only branch that came further than the value itself, or of the only branch
    that is not null; else an error that lists all branches."""
    deep = [error for error in errors if error.path]
    others = [error for error in errors if error.expected != "null"]
    if len(deep) == 1 or len(others) == 1:
        return (deep or others)[0]
    return ValueDoesNotFit(label)


def _logical(writer: Writer, logical_type: avro_logical_encode.LogicalType | None) -> Writer:
    """A writer that also accepts the text in which pages show the logical type, such as a date."""
    if logical_type is None:
        return writer

    def write(output: Output, value: Any) -> None:
        writer.write(output, value if output.is_default else logical_type.to_plain(value))

    return Writer(writer.name, logical_type.label, write)
