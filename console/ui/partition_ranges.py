"""Partitions as ranges of numbers, as users type them and as pages show them. Pure."""

import re
from collections.abc import Iterable

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
    return ", ".join(
        str(first) if first == last else f"{first}–{last}" for first, last in ranges_of(numbers)
    )


def ranges_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last number of each range, in order: 0, 1, 2, 7 → (0, 2), (7, 7)."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
