"""Floating-point numbers as JSON shows them. Pure."""

import math
import struct

_DIGITS = (6, 7, 8, 9)  # nine are enough for every 32-bit float


def plain(number: float) -> float | str:
    """The number; a text for those that JSON has not."""
    if math.isfinite(number):
        return number
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def plain_32(data: bytes) -> float | str:
    """A little-endian 32-bit float with the fewest digits: 0.1, not 0.10000000149011612."""
    number: float = struct.unpack("<f", data)[0]
    if not math.isfinite(number) or number.is_integer():
        return plain(number)
    for digits in _DIGITS:
        short = float(f"{number:.{digits}g}")
        try:
            if struct.pack("<f", short) == data:
                return short
        except OverflowError:  # rounded up beyond the largest 32-bit float
            continue
    return number
