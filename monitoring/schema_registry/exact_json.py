"""JSON with all digits of its numbers: int or Decimal. Pure."""

import json
from decimal import Decimal
from typing import Any

_EXPONENT_MAX = 400  # a little more than a double has
_DIGITS_MAX = 1_000


def exact_json(text: str) -> Any:
    """Raises ValueError (also for NaN and numbers beyond a double's) and RecursionError."""
    return json.loads(text, parse_float=_number, parse_constant=_refused)


def _number(text: str) -> Decimal:
    number = Decimal(text) if Decimal(text) else Decimal(0)  # 0e99999 is 0
    if len(text) > _DIGITS_MAX or (number and abs(number.adjusted()) > _EXPONENT_MAX):
        raise ValueError("a number is too large")
    return number


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")
