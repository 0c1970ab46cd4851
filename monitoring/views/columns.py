"""A tick's Arrow tables as NumPy columns: what the sums of a page are made from.

Pure. A number that is null in the table is NaN here, so it can never be added in as 0; offsets
and sizes are float64, exact below 2**53. Names are codes into a list, as Arrow's dictionaries.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.ticks.tick import Tick
from monitoring.views.partial_sum import PartialSum

Floats = np.ndarray
_PARTITION_BITS = 21  # of a key made of topic code and partition number


def names(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """A dictionary column as (codes, names); a null is code -1."""
    encoded = column.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), encoded.dictionary.to_pylist()


def numbers(table: pa.Table, name: str) -> Floats:
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def sums(values: Floats, codes: np.ndarray, n: int) -> Floats:
    """The sum of the known values for each code; NaN where none is known."""
    known = ~np.isnan(values) & (codes >= 0)
    found = np.bincount(codes[known], weights=values[known], minlength=n).astype(np.float64)
    found[np.bincount(codes[known], minlength=n) == 0] = np.nan
    return found


def sums_of(values: Floats, codes: np.ndarray, n: int) -> list[PartialSum]:
    """The sum for each code, with what is not in it."""
    found = sums(values, codes, n)
    unknown = counts(np.isnan(values), codes, n)
    rows = np.bincount(codes[codes >= 0], minlength=n)
    return [PartialSum(number(found[i]), int(unknown[i]), int(rows[i])) for i in range(n)]


def total(values: Floats) -> PartialSum:
    """The sum of all, with what is not in it."""
    known = values[~np.isnan(values)]
    value = float(known.sum()) if len(known) else None
    return PartialSum(value, len(values) - len(known), len(values))


def counts(mask: np.ndarray, codes: np.ndarray, n: int) -> np.ndarray:
    """How many rows of each code the mask marks."""
    return np.bincount(codes[mask & (codes >= 0)], minlength=n)


def number(value: float) -> float | None:
    """A NumPy number as Python's, NaN as None."""
    return None if np.isnan(value) else float(value)


def whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of one tick, row by row."""

    table: pa.Table
    at_ms: int
    topic: np.ndarray
    topics: list[str]
    partition: np.ndarray
    leader: np.ndarray
    replica_count: np.ndarray
    isr_count: np.ndarray
    start: Floats
    end: Floats
    size: Floats  # of the leader's replica
    replicas_size: Floats  # of every replica whose broker told …
    replicas_told: np.ndarray  # … and how many those are
    bytes_in: Floats
    bytes_out: Floats

    @classmethod
    def of(cls, tick: Tick, keep: Callable[[str], bool]) -> "Partitions":
        """The columns of the topics that `keep` lets through."""
        table = _kept(tick.partitions, keep)
        topic, topics = names(table["topic"])
        return cls(
            table=table,
            at_ms=tick.at_ms,
            topic=topic,
            topics=topics,
            partition=numbers(table, "partition").astype(np.int64),
            leader=np.nan_to_num(numbers(table, "leader"), nan=-1).astype(np.int64),
            replica_count=_lengths(table["replicas"]),
            isr_count=_lengths(table["isr"]),
            start=numbers(table, "log_start_offset"),
            end=numbers(table, "log_end_offset"),
            size=numbers(table, "size_bytes"),
            replicas_size=numbers(table, "replicas_size_bytes"),
            replicas_told=np.nan_to_num(numbers(table, "replicas_told")).astype(np.int64),
            bytes_in=numbers(table, "bytes_in"),
            bytes_out=numbers(table, "bytes_out"),
        )

    def rate(self, before: "Partitions | None", name: str) -> Floats:
        """The growth of a counter per second since the tick `before`, row by row.

        NaN where one of the two is unknown, where the partition is new, and where the counter
        fell (a broker started again, a topic was created again).
        """
        now: Floats = getattr(self, name)
        if before is None or before.at_ms >= self.at_ms or not len(before.topic):
            return np.full(len(now), np.nan)
        code_of = {topic: code for code, topic in enumerate(self.topics)}
        translated = np.array([code_of.get(topic, -1) for topic in before.topics], dtype=np.int64)
        keys = (translated[before.topic] << _PARTITION_BITS) + before.partition
        order = np.argsort(keys, kind="stable")
        wanted = (self.topic << _PARTITION_BITS) + self.partition
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        found = order[place]
        then = np.where(keys[found] == wanted, getattr(before, name)[found], np.nan)
        grown = np.where(now < then, np.nan, now - then)
        return grown / ((self.at_ms - before.at_ms) / 1000)


def _kept(table: pa.Table, keep: Callable[[str], bool]) -> pa.Table:
    codes, topics = names(table["topic"])
    mask = np.array([keep(topic) for topic in topics] + [True])  # the last: no topic (-1)
    return table if mask.all() else table.filter(pa.array(mask[codes]))


def _lengths(lists: pa.ChunkedArray) -> np.ndarray:
    lengths: np.ndarray = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return lengths.astype(np.int64)


def flat(lists: pa.ChunkedArray) -> np.ndarray:
    """All members of a column of lists, one after another."""
    members = pc.list_flatten(lists).combine_chunks()
    flattened: np.ndarray = members.to_numpy(zero_copy_only=False)
    return flattened.astype(np.int64)


def kept_groups(tick: Tick, keep: Callable[[str], bool]) -> pa.Table:
    """The rows of groups about visible topics; a group that reads only others is left out."""
    return _kept(tick.groups, keep)
