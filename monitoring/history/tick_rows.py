"""The rows of one history table at one tick, as NumPy columns. Pure.

Every array has one entry per row. The key of a row is one int64, put together from the codes of its
names (`Codes`) and its partition (stored_partition_rows.py, stored_group_rows.py). Rows are sorted
by key, so that the rows of two ticks are compared without a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from monitoring.history.table_specs import EXISTS, SUM_MAX, Table

Longs = np.ndarray  # int64
Flags = np.ndarray  # bool


class Codes:
    """Numbers 0, 1, 2, … for names (of topics, groups): a name keeps its code while this object
    exists.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._code_of: dict[str, int] = {}
        self._last: tuple[pa.Array, Longs] | None = None

    def code(self, name: str) -> int:
        code = self._code_of.get(name)
        if code is None:
            code = self._code_of[name] = len(self.names)
            self.names.append(name)
        return code

    def of_column(self, column: pa.ChunkedArray) -> Longs:
        """The code of each value of a dictionary column; −1 for null."""
        encoded = column.combine_chunks()
        if not pa.types.is_dictionary(encoded.type):
            encoded = encoded.dictionary_encode()
        if self._last is None or not self._last[0].equals(encoded.dictionary):
            codes = [self.code(name) for name in encoded.dictionary.to_pylist()]
            self._last = encoded.dictionary, np.array([*codes, -1], dtype=np.int64)
        indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        codes_of_rows: Longs = self._last[1][indices]
        return codes_of_rows

    def to_column(self, codes: Longs) -> pa.Array:
        """The names of codes as a dictionary column; null for −1."""
        used, indices_of_used = np.unique(codes, return_inverse=True)
        names = [self.names[code] if code >= 0 else None for code in used.tolist()]
        indices = pa.array(indices_of_used.astype(np.int32), mask=codes < 0)
        return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


@dataclass(frozen=True, slots=True)
class Values:
    """Whole numbers, and which of them are known; the others are 0."""

    numbers: Longs
    known: Flags

    @classmethod
    def of_column(cls, column: pa.ChunkedArray) -> Values:
        known = column.is_valid().to_numpy()
        numbers = column.fill_null(0).to_numpy().astype(np.int64, copy=False)
        return cls(numbers, known)

    @classmethod
    def of_optional(cls, numbers: Iterable[float | None]) -> Values:
        listed = list(numbers)
        known = np.array([number is not None for number in listed], dtype=bool)
        return cls(np.array([int(n or 0) for n in listed], dtype=np.int64), known)

    @classmethod
    def all_known(cls, numbers: Longs) -> Values:
        return cls(numbers.astype(np.int64), np.ones(len(numbers), dtype=bool))

    @classmethod
    def unknown(cls, count: int) -> Values:
        return cls(np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool))

    def take(self, rows: Longs) -> Values:
        """These rows; unknown for row −1."""
        if not len(self.numbers):
            return Values.unknown(len(rows))
        is_row = rows >= 0
        return Values(np.where(is_row, self.numbers[rows], 0), self.known[rows] & is_row)

    def where(self, mask: Flags) -> Values:
        """Unknown where the mask is false."""
        return Values(np.where(mask, self.numbers, 0), self.known & mask)

    def or_last(self, last: Values) -> Values:
        """The last known value where this one is unknown."""
        return Values(np.where(self.known, self.numbers, last.numbers), self.known | last.known)

    def differs(self, other: Values) -> Flags:
        differs: Flags = (self.numbers != other.numbers) | (self.known != other.known)
        return differs

    def to_array(self, kind: pa.DataType) -> pa.Array:
        return pa.array(self.numbers, mask=~self.known).cast(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class TickRows:
    """The rows of `table` at one tick, sorted by `keys`.

    `facts`, `gauges`, `amounts` and `readings` are columns by name (table_specs.py). All values are
    whole numbers: in `facts` a boolean is 0 or 1, a text its code. `state` and `rated` have one bit
    for each counter, `state` also EXISTS and UNANSWERED. `amounts`: what each counter grew by in
    this tick. `readings`: the last known value of what is counted, for example the end offset of
    the counter `records`; the next tick's amount is computed from it. Readings are not stored.
    """

    table: Table
    keys: Longs
    facts: dict[str, Values]
    gauges: dict[str, Values]
    state: Longs
    amounts: dict[str, Longs] = field(default_factory=dict)
    rated: Longs
    readings: dict[str, Values] = field(default_factory=dict)

    @classmethod
    def empty(cls, table: Table) -> TickRows:
        none = Values.unknown(0)
        return cls(
            table=table,
            keys=np.empty(0, np.int64),
            facts=dict.fromkeys(table.facts, none),
            gauges=dict.fromkeys(table.gauges, none),
            state=np.empty(0, np.int64),
            amounts=dict.fromkeys(table.counters, np.empty(0, np.int64)),
            rated=np.empty(0, np.int64),
        )

    def rows_of(self, keys: Longs) -> Longs:
        """For each key its row; −1 if it has none."""
        if len(keys) == len(self.keys) and np.array_equal(keys, self.keys):
            return np.arange(len(keys))
        if not len(self.keys):
            return np.full(len(keys), -1)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[rows] == keys, rows, -1)

    def state_of(self, rows: Longs) -> Longs:
        """The state of these rows; 0 for row −1."""
        return np.where(rows >= 0, self.state[rows], 0) if len(self.state) else np.zeros_like(rows)

    def fact(self, name: str, rows: Longs) -> Values:
        """A fact of these rows."""
        return self.facts[name].take(rows)

    def reading(self, counter: str, rows: Longs) -> Values:
        """The last known reading of a counter in these rows."""
        found = self.readings.get(counter)
        return Values.unknown(len(rows)) if found is None else found.take(rows)

    def is_known(self, counter: str, rows: Longs) -> Flags:
        """Whether the counter was known in these rows; not for row −1."""
        return (self.state_of(rows) & self.table.counter_bit(counter)) > 0


def bits_of(table: Table, flags: dict[str, Flags]) -> Longs:
    """The bits of counters for which the flags are set."""
    bits = np.zeros(len(next(iter(flags.values()))), dtype=np.int64)
    for counter, is_set in flags.items():
        bits |= np.where(is_set, table.counter_bit(counter), 0)
    return bits


@dataclass(frozen=True, slots=True)
class Sums:
    """Adds up rows ("parts"), for example the partitions of topics.

    `code` has for each part the index of the sum that it belongs to, 0 … `count` − 1.
    """

    code: Longs
    count: int

    def amount(self, values: Longs) -> Longs:
        sums = np.zeros(self.count, dtype=np.int64)
        np.add.at(sums, self.code, values.astype(np.int64))
        return sums

    def parts(self, mask: Flags) -> Longs:
        """The number of parts that the mask marks."""
        return np.bincount(self.code[mask], minlength=self.count).astype(np.int64)

    def total(self, values: Values, counted: Flags | None = None) -> Values:
        """The sums over the parts in `counted` (None = all).

        A sum is known if there is a part and each is known; a sum beyond 64 bits is unknown.
        """
        parts = np.ones(len(self.code), dtype=bool) if counted is None else counted
        known = (self.parts(parts) > 0) & (self.parts(parts & ~values.known) == 0)
        of_parts = np.where(parts, values.numbers, 0)
        known &= np.bincount(self.code, np.abs(of_parts, dtype=np.float64), self.count) < SUM_MAX
        return Values(np.where(known, self.amount(of_parts), 0), known)

    def every(self, mask: Flags, counted: Flags | None) -> Flags:
        """Whether the mask marks all parts in `counted` (None = all), and there is one."""
        parts = np.ones(len(self.code), dtype=bool) if counted is None else counted
        every: Flags = (self.parts(parts) > 0) & (self.parts(parts & ~mask) == 0)
        return every

    def amounts(self, table: Table, rows: TickRows) -> dict[str, Longs]:
        """The amounts of the parts, added up; 0 for a counter that they do not have."""
        none = np.zeros(len(self.code), dtype=np.int64)
        return {name: self.amount(rows.amounts.get(name, none)) for name in table.counters}

    def state(self, table: Table, rows: TickRows, counted: Flags | None = None) -> Longs:
        """EXISTS, and the counters that are known of every part."""
        return EXISTS | self._bits(table, rows.table, rows.state, counted)

    def rated(self, table: Table, rows: TickRows, counted: Flags | None = None) -> Longs:
        """The counters that every part has a rate of."""
        return self._bits(table, rows.table, rows.rated, counted)

    def _bits(self, table: Table, parts: Table, bits: Longs, counted: Flags | None) -> Longs:
        flags = {
            name: self.every((bits & parts.counter_bit(name)) > 0, counted)
            for name in table.counters
            if name in parts.counters
        }
        return bits_of(table, flags)


def growth(now: Values, last: Values) -> tuple[Longs, Flags]:
    """(what a counter grew by since its last known value, whether that is known and ≥ 0).

    Where it is not known, or the counter went back (a restarted broker), the growth is 0.
    """
    grown = now.numbers - last.numbers
    is_valid = now.known & last.known & (grown >= 0)
    return np.where(is_valid, grown, 0), is_valid
