"""A tick's tables as NumPy columns, from which sums are computed.

Pure. Names are codes into a list, as in Arrow's dictionaries. A number that is null in the table is
NaN here, so it can never be added in as 0; offsets and sizes are float64, exact below 2**53.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.read_model.partial_sum import PartialSum
from monitoring.scope import ANY

Floats = np.ndarray


class Names:
    """The names of a dictionary column; a code is an index into `all`."""

    __slots__ = ("_values", "all", "code_of", "order", "rank")

    def __init__(self, values: pa.Array) -> None:
        self._values = values
        self.all: list[str] = values.to_pylist()
        self.code_of = {name: code for code, name in enumerate(self.all)}
        # The codes by name, and for each code its place among them.
        self.order = pc.array_sort_indices(values).to_numpy().astype(np.int64)
        self.rank = np.empty_like(self.order)
        self.rank[self.order] = np.arange(len(self.order))

    @classmethod
    def of(cls, values: pa.Array, before: "Names | None") -> "Names":
        """The previous tick's object, if it is equal."""
        if before is not None and before._values.equals(values):
            return before
        return cls(values)

    def matching(self, patterns: Iterable[str]) -> np.ndarray:
        """Of each name whether one of these patterns of a scope (monitoring/scope.py) is for it."""
        found = np.zeros(len(self.all), dtype=bool)
        for pattern in patterns:
            if pattern.endswith(ANY):
                begins = pc.starts_with(self._values, pattern=pattern[: -len(ANY)])
                found |= begins.to_numpy(zero_copy_only=False)
            elif pattern in self.code_of:
                found[self.code_of[pattern]] = True
        return found

    def codes_in(self, other: "Names") -> np.ndarray:
        """For each name its code in the other list; −1 if it is missing."""
        code_of = other.code_of
        return np.array([code_of.get(name, -1) for name in self.all], dtype=np.int64)


def names(column: pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """A dictionary column as (codes, names); a null is code −1."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), encoded.dictionary


def numbers(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def counts(mask: np.ndarray, codes: np.ndarray, n: int) -> np.ndarray:
    """The number of masked rows per code."""
    return np.bincount(codes[mask & (codes >= 0)], minlength=n)


def number(value: float) -> float | None:
    """A NumPy number as a Python number; NaN → None."""
    return None if np.isnan(value) else float(value)


def whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


@dataclass(frozen=True, slots=True)
class Sums:
    """One sum per code; `missing` of `of` parts are not included."""

    values: Floats  # NaN if no value is known
    missing: np.ndarray
    of: np.ndarray
    unit: str = "partitions"
    _made: dict[int, PartialSum] = field(default_factory=dict)

    @classmethod
    def over(cls, values: Floats, codes: np.ndarray, n: int) -> "Sums":
        unknown = np.isnan(values)
        missing, of = counts(unknown, codes, n), np.bincount(codes[codes >= 0], minlength=n)
        filled = np.where(unknown, 0.0, values)
        known = codes >= 0
        found = np.bincount(codes[known], filled[known], minlength=n).astype(np.float64)
        found[missing == of] = np.nan
        return cls(found, missing, of)

    def __getitem__(self, code: int) -> PartialSum:
        """The sum for one code; made once, since tables are sorted by them again and again."""
        found = self._made.get(code)
        if found is None:
            value, missing = number(self.values[code]), int(self.missing[code])
            found = self._made[code] = PartialSum(value, missing, int(self.of[code]), self.unit)
        return found

    def total(self, mask: np.ndarray | None = None) -> PartialSum:
        """The sum of all, or of the codes that the mask marks."""
        chosen = slice(None) if mask is None else mask
        values = self.values[chosen]
        known = values[~np.isnan(values)]
        value = float(known.sum()) if len(known) else None
        missing, of = int(self.missing[chosen].sum()), int(self.of[chosen].sum())
        return PartialSum(value, missing, of, self.unit)


@dataclass(frozen=True, slots=True)
class RowIndex:
    """Which rows have a code: those of `code` are `order[starts[code]:starts[code + 1]]`."""

    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, n: int) -> "RowIndex":
        """Of codes below n; rows of code −1 are in no place."""
        order = np.argsort(codes, kind="stable")
        return cls(order, np.searchsorted(codes[order], np.arange(n + 1)))

    def rows(self, code: int) -> np.ndarray:
        return self.order[self.starts[code] : self.starts[code + 1]]
