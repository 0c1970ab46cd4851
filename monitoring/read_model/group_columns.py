"""The consumer groups of one tick as columns, and their lag by group and topic. Pure.

The table has a row per group, topic and partition. A group and a topic are a *pair*: pages, alert
rules and totals add up pairs. A group without commits and assignments has one row and one pair,
without a topic (code −1). Offsets are integers here, so that sums of lag are exact.
"""

from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.lag.formula import counted_lag, has_lag, lag_between
from monitoring.read_model.columns import Names, codes_and_names
from monitoring.read_model.partial_sum import PartialSum
from monitoring.ticks.tick import Tick

_GROUP_COLUMNS = ("state", "protocol_type", "coordinator", "members", "reported_at_ms")


@dataclass(frozen=True, slots=True)
class LagSums:
    """Sums of lag, one per pair or per group.

    Partitions without a commit or with an unknown end offset are counted but not added. A partition
    with a commit beyond its end is ahead: it adds 0, so that its negative lag does not hide another
    partition's; `ahead_by` sums the offsets beyond the end.
    """

    partitions: np.ndarray
    known: np.ndarray  # partitions that have a lag; 0 = the sum is not known
    lag: np.ndarray
    ahead: np.ndarray
    ahead_by: np.ndarray
    not_committed: np.ndarray
    end_unknown: np.ndarray

    @classmethod
    def of_rows(cls, table: pa.Table, is_partition: np.ndarray) -> "LagSums":
        """One entry for each row of a tick's group table; `is_partition`: the rows with a topic."""
        committed, is_committed = _integers(table["committed_offset"])
        end, has_end = _integers(table["log_end_offset"])
        known = has_lag(is_committed, has_end)
        lag = np.where(known, lag_between(committed, end), 0)
        return cls(
            partitions=is_partition,
            known=known & is_partition,
            lag=np.where(known, counted_lag(committed, end), 0),
            ahead=(lag < 0) & is_partition,
            ahead_by=np.maximum(-lag, 0),
            not_committed=~is_committed & is_partition,
            end_unknown=is_committed & ~has_end & is_partition,
        )

    def sums_by(self, codes: np.ndarray, n: int, mask: np.ndarray | None = None) -> "LagSums":
        """The sums per code, of all entries or of those that `mask` selects."""
        selection = slice(None) if mask is None else mask
        codes = codes[selection]
        sums = []
        for field in fields(self):
            total = np.zeros(n, dtype=np.int64)
            np.add.at(total, codes, getattr(self, field.name)[selection].astype(np.int64))
            sums.append(total)
        return LagSums(*sums)

    def take(self, codes: np.ndarray) -> "LagSums":
        """The entries with these indices."""
        return LagSums(*(getattr(self, field.name)[codes] for field in fields(self)))

    def __getitem__(self, code: int) -> PartialSum:
        """Partitions without a commit have no lag and are not counted."""
        return PartialSum(
            int(self.lag[code]) if self.known[code] else None,
            int(self.end_unknown[code]),
            int(self.partitions[code] - self.not_committed[code]),
            ahead=int(self.ahead[code]),
            ahead_by=int(self.ahead_by[code]),
        )

    def value_lists(self) -> dict[str, list[int | None]]:
        """The values for the rows of pages (row_types.py), by column name."""
        lags = zip(self.lag.tolist(), self.known.tolist(), strict=True)
        columns: dict[str, list[int | None]] = {
            name: getattr(self, name).tolist()
            for name in ("partitions", "ahead", "ahead_by", "not_committed", "end_unknown")
        }
        return columns | {"lag": [lag if known else None for lag, known in lags]}


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The groups of one tick. Pairs are sorted by group code, then topic code."""

    table: pa.Table
    group_names: Names
    topic_names: Names
    facts: pa.Table  # one row per group: the columns that are the same in all its rows
    order: np.ndarray  # the rows of pair i are order[starts[i]:starts[i + 1]]
    starts: np.ndarray
    group: np.ndarray  # per pair, a code of `group_names`
    topic: np.ndarray  # per pair, a code of `topic_names`
    sums: LagSums

    @classmethod
    def of(cls, tick: Tick, previous: "GroupColumns | None" = None) -> "GroupColumns":
        table = tick.groups
        group, group_names = codes_and_names(table["group"])
        topic, topic_names = codes_and_names(table["topic"])
        keys = group * (len(topic_names) + 1) + topic + 1
        order = np.argsort(keys, kind="stable")
        in_order = keys[order]
        is_first = np.diff(in_order, prepend=-1) != 0
        starts = np.flatnonzero(is_first)
        pair = np.empty(len(keys), dtype=np.int64)
        pair[order] = np.cumsum(is_first) - 1
        firsts = order[starts]
        return cls(
            table=table,
            group_names=Names.of(group_names, previous.group_names if previous else None),
            topic_names=Names.of(topic_names, previous.topic_names if previous else None),
            facts=_first_row_of_each_group(table, group[firsts], firsts, len(group_names)),
            order=order,
            starts=np.append(starts, len(keys)),
            group=group[firsts],
            topic=topic[firsts],
            sums=LagSums.of_rows(table, topic >= 0).sums_by(pair, len(starts)),
        )

    def pairs_of_group(self, code: int) -> np.ndarray:
        first, end = np.searchsorted(self.group, [code, code + 1])
        return np.arange(first, end)

    def rows(self, pairs: np.ndarray) -> np.ndarray:
        """The numbers of the table's rows of these pairs, pair by pair."""
        parts = [self.order[self.starts[pair] : self.starts[pair + 1]] for pair in pairs.tolist()]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _first_row_of_each_group(
    table: pa.Table, group: np.ndarray, rows: np.ndarray, n: int
) -> pa.Table:
    """For each group the facts in its first row; null if it has no row."""
    first = np.full(n, -1, dtype=np.int64)
    codes, indices = np.unique(group, return_index=True)
    first[codes] = rows[indices]
    return table.select(list(_GROUP_COLUMNS)).take(pa.array(first, mask=first < 0))


def _integers(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """(values, whether each is known); unknown values are 0."""
    known = pc.is_valid(column).to_numpy()
    return pc.fill_null(column, 0).to_numpy(), known
