"""Writers from plain dicts to bytes, compiled from kio's message classes.

Each class becomes one function `write(out, fields)` that appends the encoded message to a
bytearray. Handlers build plain dicts and lists: a field the version lacks is dropped, a missing one
gets its default, durations and dates are integers in milliseconds, errors are int codes. A name
that no version of the class has raises. An item of an array of structs may also be bytes, encoded
before (`messages.encode_item`).
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from struct import Struct
from types import NoneType
from typing import Any, get_args, get_origin

from brokerd.integer_ranges import INT16_MAX

Writer = Callable[[bytearray, Any], None]

NUMBERS = {
    "bool": Struct(">?"), "int8": Struct(">b"), "int16": Struct(">h"), "uint16": Struct(">H"),
    "int32": Struct(">i"), "int64": Struct(">q"), "float64": Struct(">d"),
    "error_code": Struct(">h"),
}  # fmt: skip
_INT16 = Struct(">h")
_INT32 = Struct(">i")
TIMES = {"timedelta_i32": Struct(">i"), "timedelta_i64": Struct(">q"),
          "datetime_i64": Struct(">q")}  # fmt: skip
_IMPLICIT: dict[str, Any] = {"bool": False, "string": "", "bytes": b"", "records": b"",
                             "uuid": None}  # fmt: skip


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned LEB128 integer."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def write_count(out: bytearray, number: int, flexible: bool) -> None:
    """Append the number of an array's items; -1 is null."""
    if flexible:
        write_uvarint(out, number + 1)
    else:
        out += _INT32.pack(number)


def write_text(out: bytearray, text: str | None, flexible: bool) -> None:
    """Appends a nullable string, cut off at its greatest length."""
    if text is None:
        out += b"\x00" if flexible else _INT16.pack(-1)
        return
    data = text.encode()[:INT16_MAX]
    if flexible:
        write_uvarint(out, len(data) + 1)
    else:
        out += _INT16.pack(len(data))
    out += data


def _fixed(packer: Struct) -> Writer:
    pack = packer.pack

    def write(out: bytearray, value: Any) -> None:
        out += pack(value)

    return write


def _time(packer: Struct) -> Writer:
    pack = packer.pack

    def write(out: bytearray, value: Any) -> None:
        if isinstance(value, timedelta):
            value = round(value.total_seconds() * 1000)
        elif isinstance(value, datetime):
            value = round(value.timestamp() * 1000)
        out += pack(-1 if value is None else value)

    return write


def _write_uuid(out: bytearray, value: Any) -> None:
    out += bytes(16) if value is None else value.bytes


def _sized(flexible: bool, legacy_length: Struct, nullable: bool, encode: bool) -> Writer:
    pack = legacy_length.pack

    def write(out: bytearray, value: Any) -> None:
        if value is None:
            if not nullable:
                raise ValueError("null where the message allows none")
            out += b"\x00" if flexible else pack(-1)
            return
        data = value.encode() if encode else value
        if flexible:
            write_uvarint(out, len(data) + 1)
        else:
            out += pack(len(data))
        out += data

    return write


def _primitive(kafka_type: str, flexible: bool, nullable: bool) -> Writer:
    if kafka_type in NUMBERS:
        return _fixed(NUMBERS[kafka_type])
    if kafka_type in TIMES:
        return _time(TIMES[kafka_type])
    if kafka_type == "uuid":
        return _write_uuid
    if kafka_type == "string":
        return _sized(flexible, Struct(">h"), nullable, encode=True)
    if kafka_type in ("bytes", "records"):
        return _sized(flexible, Struct(">i"), nullable, encode=False)
    raise NotImplementedError(f"no writer for {kafka_type}")


def _array(item: Writer, flexible: bool) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        write_count(out, -1 if value is None else len(value), flexible)
        for each in value or ():
            item(out, each)

    return write


def _unless_encoded(inner: Writer) -> Writer:
    def write(out: bytearray, value: Any) -> None:
        if type(value) is bytes:
            out += value
        else:
            inner(out, value)

    return write


def _nullable_struct(inner: Writer) -> Writer:
    # KIP-893: a struct that may be null is led by one byte, -1 or 1.
    def write(out: bytearray, value: Any) -> None:
        if value is None:
            out.append(0xFF)
            return
        out.append(1)
        inner(out, value)

    return write


class FieldShape:
    def __init__(self, field: Field[Any]) -> None:
        self.name = field.name
        self.tag: int | None = field.metadata.get("tag")
        self.kafka_type: str = field.metadata.get("kafka_type", "")
        annotation, self.nullable = _without_none(field.type)
        self.is_array = get_origin(annotation) is tuple
        if self.is_array:
            annotation, item_nullable = _without_none(get_args(annotation)[0])
            self.nullable = self.nullable or item_nullable
        self.entity: Any = annotation if is_dataclass(annotation) else None
        self.default = self._default(field)

    def _default(self, field: Field[Any]) -> Any:
        if field.default is not MISSING:
            return field.default
        if self.is_array:
            return ()
        if self.entity:
            return {}
        return _IMPLICIT.get(self.kafka_type, 0)


def _without_none(annotation: Any) -> tuple[Any, bool]:
    arguments = get_args(annotation)
    if get_origin(annotation) is not tuple and NoneType in arguments:
        return next(each for each in arguments if each is not NoneType), True
    return annotation, False


@cache
def shapes(entity_type: type) -> tuple[FieldShape, ...]:
    """The fields of a kio message class, in wire order."""
    return tuple(FieldShape(field) for field in fields(entity_type))


def _field_writer(shape: FieldShape, flexible: bool) -> Writer:
    if shape.entity is not None:
        inner = entity_writer(shape.entity)
        if not shape.is_array:
            return _nullable_struct(inner) if shape.nullable and shape.tag is None else inner
        return _array(_unless_encoded(inner), flexible)
    if shape.is_array:
        return _array(_primitive(shape.kafka_type, flexible, nullable=False), flexible)
    return _primitive(shape.kafka_type, flexible, shape.nullable)


def _is_default(value: Any, default: Any) -> bool:
    """A tagged field with its default is left out; an empty array is one, whatever holds it."""
    return value == default or (default == () and not value and value is not None)


def _tag_writer(
    tagged: list[tuple[int, str, Any, Writer]],
) -> Callable[[bytearray, Mapping[str, Any]], None]:
    def write(out: bytearray, values: Mapping[str, Any]) -> None:
        present = [
            each for each in tagged if not _is_default(values.get(each[1], each[2]), each[2])
        ]
        write_uvarint(out, len(present))
        for tag, name, _, writer in present:
            body = bytearray()
            writer(body, values[name])
            write_uvarint(out, tag)
            write_uvarint(out, len(body))
            out += body

    return write


@cache
def entity_writer(entity_type: type) -> Writer:
    """The function that appends one message (or nested struct) of this class, from a dict."""
    flexible: bool = entity_type.__flexible__  # type: ignore[attr-defined]
    plain: list[tuple[str, Any, Writer]] = []
    tagged: list[tuple[int, str, Any, Writer]] = []
    for shape in shapes(entity_type):
        writer = _field_writer(shape, flexible)
        if shape.tag is None:
            plain.append((shape.name, shape.default, writer))
        else:
            tagged.append((shape.tag, shape.name, shape.default, writer))
    tagged.sort(key=lambda each: each[0])
    write_tags = _tag_writer(tagged) if flexible else None

    def write(out: bytearray, values: Mapping[str, Any]) -> None:
        for name, default, writer in plain:
            writer(out, values.get(name, default))
        if write_tags is not None:
            write_tags(out, values)

    return write
