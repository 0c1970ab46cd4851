"""Avro's logical types from the texts that avro_logical.py shows. Pure.

A number is taken as it is: days, milliseconds, microseconds. A decimal is a number or its text, and
must have the scale of its type at most.
"""

import re
import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from monitoring.schema_registry.iso_time import epoch_seconds
from monitoring.schema_registry.value_errors import ValueDoesNotFit

_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_MOMENT = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)[T ]{_TIME}(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_TIME_ONLY = re.compile(_TIME, re.ASCII)
_DIGITS_MAX = 200
_FIXED_BYTES_MAX = 1_000  # of a decimal, which is written with all of its bytes


@dataclass(frozen=True, slots=True)
class LogicalType:
    """`to_plain` makes the value of the underlying Avro type, and raises ValueDoesNotFit."""

    label: str
    to_plain: Callable[[Any], Any]


def of_primitive(tree: dict[str, Any]) -> LogicalType | None:
    """The logical type of a primitive type with the attribute `logicalType`; None = not known."""
    kind, logical = tree["type"], tree.get("logicalType")
    if logical == "decimal" and kind == "bytes":
        return _decimal(tree, size=None)
    return _LOGICAL_TYPES.get((kind, logical)) if isinstance(logical, str) else None


def of_fixed(tree: dict[str, Any]) -> LogicalType | None:
    """The logical type of a fixed type; None = not known."""
    logical, size = tree.get("logicalType"), tree["size"]
    if logical == "decimal":
        return _decimal(tree, size)
    if logical == "duration" and size == 12:
        return LogicalType("a duration: months, days and millis", _duration)
    if logical == "uuid" and size == 16:
        return LogicalType("a UUID", lambda value: _uuid(value).bytes.decode("latin-1"))
    return None


def _decimal(tree: dict[str, Any], size: int | None) -> LogicalType | None:
    """`size`: the bytes of a fixed type; None = any number of bytes."""
    scale, precision = tree.get("scale", 0), tree.get("precision")
    if size is not None and size > _FIXED_BYTES_MAX:
        return None
    if not isinstance(scale, int) or isinstance(scale, bool) or not 0 <= scale <= _DIGITS_MAX:
        return None
    digits = precision if isinstance(precision, int) and precision > 0 else _DIGITS_MAX
    label = f"a decimal of at most {digits} digits, {scale} of them behind the point"

    def to_plain(value: Any) -> str:
        sign, found, exponent = _digits(value, label)
        shift = exponent + scale
        number = int("".join(map(str, found)) or "0")
        number, lost = (number * 10**shift, 0) if shift >= 0 else divmod(number, 10**-shift)
        if lost or len(str(number)) > digits:
            raise ValueDoesNotFit(label)
        return _two_complement(-number if sign else number, size, label)

    return LogicalType(label, to_plain)


def _digits(value: Any, label: str) -> tuple[int, tuple[int, ...], int]:
    """Sign, digits and exponent of a finite number with few of them."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise ValueDoesNotFit(label)
    if isinstance(value, int) and abs(value) >= 10**_DIGITS_MAX:
        raise ValueDoesNotFit(label)
    if isinstance(value, str) and (len(value) > _DIGITS_MAX or not value.isascii()):
        raise ValueDoesNotFit(label)
    try:
        sign, digits, exponent = Decimal(value).as_tuple()
    except InvalidOperation as error:
        raise ValueDoesNotFit(label) from error
    if isinstance(exponent, int) and abs(exponent) <= _DIGITS_MAX >= len(digits):
        return sign, digits, exponent
    raise ValueDoesNotFit(label)


def _two_complement(number: int, size: int | None, label: str) -> str:
    """Big-endian bytes, the fewest or `size`, as a text of one character a byte."""
    least = (number if number >= 0 else ~number).bit_length() // 8 + 1
    if size is not None and least > size:
        raise ValueDoesNotFit(label)
    return number.to_bytes(size or least, "big", signed=True).decode("latin-1")


def _duration(value: Any) -> str:
    parts = [value.get(name) for name in _DURATION] if isinstance(value, dict) else []
    if len(parts) != 3 or value.keys() - set(_DURATION) or not all(map(_is_uint32, parts)):
        raise ValueDoesNotFit("a duration: months, days and millis, each from 0 to 4294967295")
    return struct.pack("<III", *parts).decode("latin-1")


_DURATION = ("months", "days", "millis")


def _is_uint32(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 32


def _uuid(value: Any) -> uuid.UUID:
    try:
        if isinstance(value, str) and len(value) == 36:
            return uuid.UUID(value)
    except ValueError:
        pass
    raise ValueDoesNotFit("a UUID")


def _date(value: Any) -> Any:
    try:
        is_text = isinstance(value, str)
        return (date.fromisoformat(value) - date(1970, 1, 1)).days if is_text else value
    except ValueError as error:
        raise ValueDoesNotFit("a date such as 2026-01-31") from error


def _time(digits: int) -> LogicalType:
    label = f"a time such as 10:00:00.{'0' * digits}"

    def to_plain(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = _TIME_ONLY.fullmatch(value)
        if found is None or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3] or 0) > 59:
            raise ValueDoesNotFit(label)
        seconds = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)
        return seconds * 10**digits + _fraction(found[4], digits, label)

    return LogicalType(label, to_plain)


def _timestamp(digits: int, *, is_local: bool = False) -> LogicalType:
    """`digits` of a second: 3, 6 or 9."""
    label = f"a time such as 2026-01-31T10:00:00.{'0' * digits}{'' if is_local else 'Z'}"

    def to_plain(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        found = _MOMENT.fullmatch(value)
        if found is None or bool(found[8]) is is_local:
            raise ValueDoesNotFit(label)
        try:
            seconds = epoch_seconds([int(found[n] or 0) for n in range(1, 7)], found[8])
        except (ValueError, OverflowError) as error:
            raise ValueDoesNotFit(label) from error
        return seconds * 10**digits + _fraction(found[7], digits, label)

    return LogicalType(label, to_plain)


def _fraction(text: str | None, digits: int, label: str) -> int:
    """The fraction of a second in units of the type; no digit may be lost."""
    padded = (text or "").ljust(9, "0")
    if padded[digits:].strip("0"):
        raise ValueDoesNotFit(label)
    return int(padded[:digits])


_LOGICAL_TYPES: dict[tuple[Any, str], LogicalType] = {
    ("int", "date"): LogicalType("a date such as 2026-01-31", _date),
    ("int", "time-millis"): _time(3),
    ("long", "time-micros"): _time(6),
    ("long", "timestamp-millis"): _timestamp(3),
    ("long", "timestamp-micros"): _timestamp(6),
    ("long", "timestamp-nanos"): _timestamp(9),
    ("long", "local-timestamp-millis"): _timestamp(3, is_local=True),
    ("long", "local-timestamp-micros"): _timestamp(6, is_local=True),
    ("long", "local-timestamp-nanos"): _timestamp(9, is_local=True),
    ("string", "uuid"): LogicalType("a UUID", lambda value: str(_uuid(value))),
}
