"""Floating-point numbers as JSON shows them, and back. Pure."""

import math
import struct
from decimal import Decimal
from typing import Any

from monitoring.schema_registry.value_errors import ValueDoesNotFit

_DIGITS = (6, 7, 8, 9)  # nine are enough for every 32-bit float
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def json_float(number: float) -> float | str:
    """The number as JSON: a text for NaN and the infinities."""
    if math.isfinite(number):
        return number
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def json_float32(data: bytes) -> float | str:
    """A little-endian 32-bit float with the fewest digits: 0.1, not 0.10000000149011612."""
    number: float = struct.unpack("<f", data)[0]
    if not math.isfinite(number) or number.is_integer():
        return json_float(number)
    for digits in _DIGITS:
        short = float(f"{number:.{digits}g}")
        try:
            if struct.pack("<f", short) == data:
                return short
        except OverflowError:  # rounded up beyond the largest 32-bit float
            continue
    return number


def packed_float(value: Any, code: str, kind: str) -> bytes:
    """A number, or a text that `json_float` makes, in a format of `struct`. `kind`: what an error
    expects. Raises ValueDoesNotFit."""
    number = _NOT_FINITE.get(value) if isinstance(value, str) else value
    if not isinstance(number, int | float | Decimal) or isinstance(number, bool):
        raise ValueDoesNotFit(kind)
    try:
        data = struct.pack(code, float(number))
    except OverflowError as error:
        raise ValueDoesNotFit(kind) from error
    if isinstance(number, Decimal) and math.isinf(float(number)):
        raise ValueDoesNotFit(kind)
    return data
