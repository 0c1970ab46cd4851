"""Partitions as ranges of numbers, as users type them and as pages show them. Pure."""

import re

from django.utils.translation import gettext as _

_RANGE = re.compile(r"(\d{1,6})(?:\s*[-–]\s*(\d{1,6}))?")
_RANGE_LENGTH_MAX = 5000


class InvalidRange(Exception):
    """The text is not a list of numbers and ranges; the message says which part is wrong."""


def partition_numbers(text: str) -> list[int]:
    """The numbers in text such as "0-5, 8"; an empty text has none. Raises InvalidRange."""
    numbers: set[int] = set()
    for part in filter(None, map(str.strip, text.split(","))):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise InvalidRange(
                _("“%(part)s” is not a partition or a range such as 0-5.") % {"part": part}
            )
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= _RANGE_LENGTH_MAX:
            raise InvalidRange(_("“%(part)s” is not a valid range.") % {"part": part})
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def ranges_text(numbers: list[int]) -> str:
    """Numbers as ranges: 0, 1, 2, 7 → "0–2, 7"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)
