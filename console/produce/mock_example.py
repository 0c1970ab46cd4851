"""Makes the JSON Schema of values that are like an example, for mock_values.py. Pure."""

import re
from typing import Any

_FORMATS = (
    ("date-time", re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("email", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
    ("ipv4", re.compile(r"\d{1,3}(\.\d{1,3}){3}")),
)
_NUMBER_MAX = 1e200
_DAY_MS = 86_400_000
_TIMESTAMPS_MS = (10**12, 10**13)  # whole numbers that are times: 2001 to 2286


def schema_of(example: Any) -> dict[str, Any]:
    """The JSON Schema of an example.

    All members of an object are required, and the items of a list are alike.
    """
    if isinstance(example, dict):
        properties = {name: schema_of(value) for name, value in example.items()}
        return {"type": "object", "properties": properties, "required": list(example)}
    if isinstance(example, list):
        if not example:
            return {"type": "array", "maxItems": 0}
        items = {"anyOf": [schema_of(item) for item in example[:20]]}
        return {"type": "array", "items": items, "minItems": 1, "maxItems": 2 * len(example)}
    if isinstance(example, bool):
        return {"type": "boolean"}
    if isinstance(example, int | float) and abs(example) > _NUMBER_MAX:
        return {"const": example}
    if isinstance(example, int):
        return {"type": "integer", **_around(example)}
    if isinstance(example, float):
        return {"type": "number", **_around(example)}
    return _text(example) if isinstance(example, str) else {"type": "null"}


def _around(value: float) -> dict[str, float]:
    """Limits around a number: a day for a timestamp, else from half of it to its double."""
    if _TIMESTAMPS_MS[0] <= value < _TIMESTAMPS_MS[1]:
        return {"minimum": value - _DAY_MS, "maximum": value + _DAY_MS}
    near, far = sorted((value // 2 if isinstance(value, int) else value / 2, value * 2))
    return {"minimum": near, "maximum": far} if value else {"minimum": 0, "maximum": 100}


def _text(example: str) -> dict[str, Any]:
    """The format of the example if it has one. Otherwise values differ in the digits only."""
    for name, pattern in _FORMATS:
        if pattern.fullmatch(example):
            return {"type": "string", "format": name}
    if any(char in "0123456789" for char in example):
        return {"type": "string", "like": example}
    return {"const": example}
