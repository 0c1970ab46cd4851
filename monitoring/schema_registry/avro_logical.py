"""Avro's logical types as text. Pure.

A date, a time and a timestamp are in ISO 8601 (a timestamp in UTC, with Z), a decimal is a text
with all of its digits, a duration is {"months": …, "days": …, "millis": …}. A value out of the
range of the type stays a number, and an unknown logical type is ignored, as Avro says.
"""

import struct
import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

Converter = Callable[[Any], Any]
Read = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1)
_DAY_MICROS = 86_400_000_000
_DECIMAL_BYTES_MAX = 64
_SCALE_MAX = 200


def of_primitive(tree: dict[str, Any], read: Read) -> Read:
    """The reader of a primitive type with the attribute `logicalType`."""
    kind, logical = tree["type"], tree.get("logicalType")
    if not isinstance(logical, str):
        return read
    if logical == "decimal" and kind == "bytes":
        return _converted(read, _decimal(tree))
    return _converted(read, _CONVERTERS.get((kind, logical)))


def of_fixed(tree: dict[str, Any], read: Read) -> Read:
    """The reader of a fixed type; its value is a text of one character a byte."""
    logical, size = tree.get("logicalType"), tree["size"]
    if logical == "decimal":
        return _converted(read, _decimal(tree))
    if logical == "duration" and size == 12:
        return _converted(read, _duration)
    if logical == "uuid" and size == 16:
        return _converted(read, lambda text: str(uuid.UUID(bytes=text.encode("latin-1"))))
    return read


def _converted(read: Read, convert: Converter | None) -> Read:
    if convert is None:
        return read
    return lambda source: convert(read(source))


def _decimal(tree: dict[str, Any]) -> Converter | None:
    scale = tree.get("scale", 0)
    if not isinstance(scale, int) or isinstance(scale, bool) or not 0 <= scale <= _SCALE_MAX:
        return None

    def convert(text: str) -> str:
        if len(text) > _DECIMAL_BYTES_MAX:
            return text
        unscaled = int.from_bytes(text.encode("latin-1"), "big", signed=True)
        return f"{Decimal(unscaled).scaleb(-scale, _EXACT):f}"

    return convert


_EXACT = Context(prec=200)


def _duration(text: str) -> dict[str, int]:
    months, days, millis = struct.unpack("<III", text.encode("latin-1"))
    return {"months": months, "days": days, "millis": millis}


def _date(days: int) -> str | int:
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        return days


def _time(unit_micros: int) -> Converter:
    def convert(number: int) -> str | int:
        micros = number * unit_micros
        if not 0 <= micros < _DAY_MICROS:
            return number
        moment = _EPOCH + timedelta(microseconds=micros)
        return moment.time().isoformat("milliseconds" if unit_micros == 1000 else "microseconds")

    return convert


def _timestamp(digits: int, *, is_local: bool = False) -> Converter:
    """`digits` of a second: 3, 6 or 9."""
    unit = 10**digits

    def convert(number: int) -> str | int:
        seconds, rest = divmod(number, unit)
        try:
            moment = _EPOCH + timedelta(seconds=seconds)
        except OverflowError:
            return number
        return f"{moment.isoformat()}.{rest:0{digits}}{'' if is_local else 'Z'}"

    return convert


_CONVERTERS: dict[tuple[Any, str], Converter] = {
    ("int", "date"): _date,
    ("int", "time-millis"): _time(1000),
    ("long", "time-micros"): _time(1),
    ("long", "timestamp-millis"): _timestamp(3),
    ("long", "timestamp-micros"): _timestamp(6),
    ("long", "timestamp-nanos"): _timestamp(9),
    ("long", "local-timestamp-millis"): _timestamp(3, is_local=True),
    ("long", "local-timestamp-micros"): _timestamp(6, is_local=True),
    ("long", "local-timestamp-nanos"): _timestamp(9, is_local=True),
}
