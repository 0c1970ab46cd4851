"""Names that contain a text, the best first. Pure.

The comparison ignores case. The order: how well the name matches (the whole name, its beginning,
the beginning of one of its words, anything), then trouble, then the name.
"""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.read_model.columns import Names


class Match(IntEnum):
    """How well a name matches, the best first."""

    WHOLE = 0
    BEGINNING = 1
    WORD = 2
    PART = 3


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The codes of the first names, and the number of all that match."""

    codes: np.ndarray
    count: int


def match_of(name: str, text: str) -> Match | None:
    """How well a name matches; None if it does not contain the text."""
    name, text = name.casefold(), text.casefold()
    at = name.find(text)
    if at < 0:
        return None
    if at == 0:
        return Match.WHOLE if name == text else Match.BEGINNING
    return Match.WORD if re.search(rf"[\W_]{re.escape(text)}", name) else Match.PART


def find(
    names: Names, shown: np.ndarray, in_trouble: np.ndarray, text: str, count_max: int
) -> FoundNames:
    """The names with a true value in `shown` that contain the text."""
    codes = np.flatnonzero(shown & _mask(pc.match_substring, names.values, text))
    values = names.values.take(pa.array(codes))
    match = np.full(len(codes), int(Match.PART))
    pattern = _escaped(text)
    for kind, regex in (
        (Match.WORD, rf"[^\pL\pN]{pattern}"),
        (Match.BEGINNING, rf"^{pattern}"),
        (Match.WHOLE, rf"^{pattern}$"),
    ):
        match[_mask(pc.match_substring_regex, values, regex)] = kind
    order = np.lexsort((names.rank[codes], ~in_trouble[codes], match))
    return FoundNames(codes[order[:count_max]], len(codes))


def _mask(match: object, values: pa.Array, pattern: str) -> np.ndarray:
    found = match(values, pattern=pattern, ignore_case=True)  # type: ignore[operator]
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _escaped(text: str) -> str:
    """The text as a regular expression of RE2, which takes no backslash before a letter beyond
    ASCII or a NUL."""
    return "".join(rf"\x{{{ord(letter):x}}}" if not letter.isalnum() else letter for letter in text)
