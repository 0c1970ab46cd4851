"""JSON without the NaN and Infinity that Python's parser takes, also with all digits of its numbers
(int or Decimal). Pure."""

import json
from decimal import Decimal, InvalidOperation
from typing import Any

_EXPONENT_MAX = 400  # a little more than a double has
_DIGITS_MAX = 1_000


def standard_json(text: str) -> Any:
    """Raises ValueError (also for NaN and Infinity) and RecursionError."""
    return json.loads(text, parse_constant=_refused)


def exact_json(text: str) -> Any:
    """The value of JSON, with exact numbers. Raises what standard_json raises, and ValueError for
    numbers beyond a double."""
    return json.loads(text, parse_float=_number, parse_constant=_refused)


def compact_json(value: Any) -> str:
    """The JSON of what exact_json reads, without spaces. Raises RecursionError."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        members = (f"{compact_json(name)}:{compact_json(each)}" for name, each in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text) if len(text) <= _DIGITS_MAX else None
    except InvalidOperation:  # an exponent that Decimal does not have
        number = None
    if number is not None and not number:
        return Decimal("0.0").copy_sign(number)  # 0e99999 is 0
    if number is None or abs(number.adjusted()) > _EXPONENT_MAX:
        raise ValueError("a number is too large")
    return number


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")
