"""How Protobuf's well-known types are shown, as in its JSON format. Pure.

A timestamp is in ISO 8601, a duration is "1.5s", a wrapper is its value, a Struct is an object.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

ANY = "google.protobuf.Any"
_EPOCH = datetime(1970, 1, 1)
_WRAPPED = ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
WRAPPERS = frozenset(f"google.protobuf.{kind}Value" for kind in _WRAPPED)


def _fraction(nanos: int) -> str:
    """The fraction of a second with 0, 3, 6 or 9 digits."""
    if nanos == 0:
        return ""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"


def _timestamp(fields: dict[str, Any]) -> Any:
    seconds, nanos = fields["seconds"], fields["nanos"]
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return fields
    if not 0 <= nanos < 1_000_000_000:
        return fields
    return f"{moment.isoformat()}{_fraction(nanos)}Z"


def _duration(fields: dict[str, Any]) -> Any:
    seconds, nanos = fields["seconds"], fields["nanos"]
    if abs(nanos) >= 1_000_000_000 or seconds * nanos < 0:
        return fields
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


def _value(fields: dict[str, Any]) -> Any:
    """A Value has one of its fields, or none."""
    set_fields = [each for name, each in fields.items() if name != "null_value"]
    return set_fields[0] if set_fields else None


PRESENTATIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
    "google.protobuf.Struct": lambda fields: fields["fields"],
    "google.protobuf.ListValue": lambda fields: fields["values"],
    "google.protobuf.Value": _value,
    "google.protobuf.FieldMask": lambda fields: ",".join(map(str, fields["paths"])),
} | dict.fromkeys(WRAPPERS, lambda fields: fields["value"])
