"""Names that match the words of a search, the best first. Pure.

Each word must be in the name, or in the name of its cluster; at least one is in the name itself.
The comparison ignores case. The order: names with all words, how well a name matches (the whole
name, its beginning, the beginning of one of its words, anything; of several words the worst), then
those with problems (`in_trouble`), then the name.
"""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.read_model.numpy_columns import Names

WORDS_MAX = 8


class Match(IntEnum):
    """How well a name matches, the best first."""

    WHOLE = 0
    BEGINNING = 1
    WORD = 2
    PART = 3


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The words of a search; `of_cluster`: those that are in the name of the searched cluster."""

    words: tuple[str, ...]
    of_cluster: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @classmethod
    def of(cls, text: str, *cluster_names: str) -> "SearchWords":
        """The words of a text, at most WORDS_MAX: the last one has the rest."""
        words = tuple(text.split(maxsplit=WORDS_MAX - 1))
        names = [name.casefold() for name in cluster_names]
        in_names = (word for word in words if any(word.casefold() in name for name in names))
        return cls(words, frozenset(in_names))


# Whether the cluster's name was needed, and the worst match of a word in the name.
Rank = tuple[bool, Match]


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The codes (indices in `Names`) of the first names, and the number of all that match."""

    codes: np.ndarray
    count: int


def rank_of(name: str, search: SearchWords) -> Rank | None:
    """How well a name matches; None if it does not. Without words every name matches."""
    if not search.words:
        return False, Match.BEGINNING
    matches = {word: _match_of(name, word) for word in search.words}
    missing = {word for word, match in matches.items() if match is None}
    found = [match for match in matches.values() if match is not None]
    if not found or missing - search.of_cluster:
        return None
    is_whole = name.casefold() == search.text.casefold()
    return bool(missing), Match.WHOLE if is_whole else max(found)


def _match_of(name: str, text: str) -> Match | None:
    name, text = name.casefold(), text.casefold()
    at = name.find(text)
    if at < 0:
        return None
    if at == 0:
        return Match.WHOLE if name == text else Match.BEGINNING
    return Match.WORD if re.search(rf"[\W_]{re.escape(text)}", name) else Match.PART


def find(
    names: Names, shown: np.ndarray, in_trouble: np.ndarray, search: SearchWords, count_max: int
) -> FoundNames:
    """The names with a true value in `shown` that match; `search` has at least one word."""
    masks = {word: _mask(pc.match_substring, names.values, word) for word in search.words}
    has_one = np.logical_or.reduce(list(masks.values()))
    needed = [mask for word, mask in masks.items() if word not in search.of_cluster]
    codes = np.flatnonzero(np.logical_and.reduce([shown, has_one, *needed]))
    values = names.values.take(pa.array(codes))
    match = np.zeros(len(codes), dtype=int)
    has_all = np.ones(len(codes), dtype=bool)
    for word, mask in masks.items():
        in_name = mask[codes]
        has_all &= in_name
        match = np.maximum(match, np.where(in_name, _matches(values, word), 0))
    match[_mask(pc.match_substring_regex, values, rf"^{_escaped(search.text)}$")] = Match.WHOLE
    order = np.lexsort((names.position[codes], ~in_trouble[codes], match, ~has_all))
    return FoundNames(codes[order[:count_max]], len(codes))


def _matches(values: pa.Array, word: str) -> np.ndarray:
    """How well each of the values matches the word that it contains."""
    match = np.full(len(values), int(Match.PART))
    pattern = _escaped(word)
    for kind, regex in (
        (Match.WORD, rf"[^\pL\pN]{pattern}"),
        (Match.BEGINNING, rf"^{pattern}"),
        (Match.WHOLE, rf"^{pattern}$"),
    ):
        match[_mask(pc.match_substring_regex, values, regex)] = kind
    return match


def _mask(compare: object, values: pa.Array, pattern: str) -> np.ndarray:
    found = compare(values, pattern=pattern, ignore_case=True)  # type: ignore[operator]
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _escaped(text: str) -> str:
    """The text as a regular expression of RE2, which takes no backslash before a letter beyond
    ASCII or a NUL."""
    return "".join(rf"\x{{{ord(letter):x}}}" if not letter.isalnum() else letter for letter in text)
