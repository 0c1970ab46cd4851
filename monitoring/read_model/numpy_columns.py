"""A tick's tables as NumPy columns, from which sums are computed.

Pure. Names are codes into a list, as in Arrow's dictionaries. A number that is null in the table is
NaN here, so it can never be added in as 0; offsets and sizes are float64, exact below 2**53.
"""

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.partial_sum import PartialSum

Floats = np.ndarray


class Names:
    """The names of a dictionary column; a code is an index into `all`."""

    __slots__ = ("_values", "all", "code_of", "order", "position")

    def __init__(self, values: pa.Array) -> None:
        self._values = values
        self.all: list[str] = values.to_pylist()
        self.code_of = {name: code for code, name in enumerate(self.all)}
        # `order`: the codes sorted by name. `position`: for each code, its index in `order`.
        self.order = pc.array_sort_indices(values).to_numpy().astype(np.int64)
        self.position = np.empty_like(self.order)
        self.position[self.order] = np.arange(len(self.order))

    @classmethod
    def of(cls, values: pa.Array, previous: "Names | None") -> "Names":
        """The previous tick's object if it has equal names, so that `is` compares them."""
        if previous is not None and previous._values.equals(values):
            return previous
        return cls(values)

    @property
    def values(self) -> pa.Array:
        return self._values

    def codes_in(self, other: "Names") -> np.ndarray:
        """For each name its code in the other list; −1 if it is missing."""
        code_of = other.code_of
        return np.array([code_of.get(name, -1) for name in self.all], dtype=np.int64)


def codes_and_names(column: pa.ChunkedArray) -> tuple[np.ndarray, pa.Array]:
    """A dictionary column as (codes, names); a null is code −1."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), encoded.dictionary


def numbers(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def counts(mask: np.ndarray, codes: np.ndarray, n: int) -> np.ndarray:
    """The number of rows per code, of those that `mask` selects."""
    return np.bincount(codes[mask & (codes >= 0)], minlength=n)


def find_keys(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each wanted key its index in `keys`, and whether it is there."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    order = np.argsort(keys, kind="stable")
    rows = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    return rows, keys[rows] == wanted


def float_or_none(value: float) -> float | None:
    """A NumPy number as a float; NaN → None."""
    return None if np.isnan(value) else float(value)


def int_or_none(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


@dataclass(frozen=True, slots=True)
class Sums:
    """One sum per code; `missing` of its `part_counts` parts are unknown and not included."""

    values: Floats  # NaN if no value is known
    missing: np.ndarray
    part_counts: np.ndarray
    unit: str = "partitions"
    _cache: dict[int, PartialSum] = field(default_factory=dict)

    @classmethod
    def by_code(cls, values: Floats, codes: np.ndarray, n: int) -> "Sums":
        """The sum of the values of each code below `n`."""
        unknown, has_code = np.isnan(values), codes >= 0
        missing = counts(unknown, codes, n)
        part_counts = np.bincount(codes[has_code], minlength=n)
        filled = np.where(unknown, 0.0, values)
        sums = np.bincount(codes[has_code], filled[has_code], minlength=n).astype(np.float64)
        sums[missing == part_counts] = np.nan
        return cls(sums, missing, part_counts)

    def __getitem__(self, code: int) -> PartialSum:
        """The sum for one code, cached: tables are sorted by it repeatedly."""
        known_sum = self._cache.get(code)
        if known_sum is None:
            value, missing = float_or_none(self.values[code]), int(self.missing[code])
            total = int(self.part_counts[code])
            known_sum = self._cache[code] = PartialSum(value, missing, total, self.unit)
        return known_sum

    def total(self, mask: np.ndarray | None = None) -> PartialSum:
        """The sum of all codes, or of those that `mask` selects."""
        selection = slice(None) if mask is None else mask
        values = self.values[selection]
        known = values[~np.isnan(values)]
        value = float(known.sum()) if len(known) else None
        missing = int(self.missing[selection].sum())
        return PartialSum(value, missing, int(self.part_counts[selection].sum()), self.unit)


@dataclass(frozen=True, slots=True)
class RowIndex:
    """The rows of each code: `order[starts[code]:starts[code + 1]]`."""

    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, n: int) -> "RowIndex":
        """`codes` are below `n`; rows with code −1 are left out."""
        order = np.argsort(codes, kind="stable")
        return cls(order, np.searchsorted(codes[order], np.arange(n + 1)))

    def rows(self, code: int) -> np.ndarray:
        return self.order[self.starts[code] : self.starts[code + 1]]
