"""The fields of Protobuf's well-known types from what protobuf_well_known_types.py shows. Pure."""

import re
from typing import Any

from monitoring.schema_registry.iso_time import epoch_seconds
from monitoring.schema_registry.protobuf_well_known_types import ANY, WRAPPERS
from monitoring.schema_registry.value_errors import ValueDoesNotFit

VALUE = "google.protobuf.Value"
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", re.ASCII
)
_DURATION = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s", re.ASCII)


def fields_of(name: str, value: Any) -> Any:
    """The value of a message of this type as an object with its fields. Raises ValueDoesNotFit."""
    if name == ANY:
        raise ValueDoesNotFit(why="google.protobuf.Any cannot be written yet")
    if name in WRAPPERS:
        return {"value": value}
    if name == VALUE:
        return _value(value)
    if name == "google.protobuf.Struct" and isinstance(value, dict):
        return {"fields": value}
    if name == "google.protobuf.ListValue" and isinstance(value, list):
        return {"values": value}
    if name == "google.protobuf.FieldMask" and isinstance(value, str):
        return {"paths": value.split(",") if value else []}
    if name == "google.protobuf.Timestamp" and isinstance(value, str):
        return _timestamp(value)
    if name == "google.protobuf.Duration" and isinstance(value, str):
        return _duration(value)
    return value


def _value(value: Any) -> dict[str, Any]:
    if value is None:
        return {"null_value": 0}
    if isinstance(value, bool):
        return {"bool_value": value}
    for kind, name in ((str, "string_value"), (dict, "struct_value"), (list, "list_value")):
        if isinstance(value, kind):
            return {name: value}
    return {"number_value": value}


def _timestamp(text: str) -> dict[str, int]:
    expected = "a time such as 2026-01-31T10:00:00Z"
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueDoesNotFit(expected)
    try:
        seconds = epoch_seconds([int(found[n]) for n in range(1, 7)], found[8])
    except (ValueError, OverflowError) as error:
        raise ValueDoesNotFit(expected) from error
    return {"seconds": seconds, "nanos": int((found[7] or "").ljust(9, "0"))}


def _duration(text: str) -> dict[str, int]:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueDoesNotFit("a duration such as 1.5s")
    sign = -1 if found[1] else 1
    nanos = int((found[3] or "").ljust(9, "0"))
    return {"seconds": sign * int(found[2]), "nanos": sign * nanos}
