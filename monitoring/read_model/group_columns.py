"""The consumer groups of one tick as columns, and their lag by group and topic. Pure.

The table has a row per group, topic and partition. A group and a topic are a *pair*: pages, alert
rules and totals add up pairs. A group without commits and assignments has one row and one pair,
without a topic (code −1).
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from monitoring.lag.lag_sums import LagSums
from monitoring.read_model.numpy_columns import Names, codes_and_names
from monitoring.ticks.tick import Tick

_GROUP_COLUMNS = ("state", "protocol_type", "coordinator", "members", "reported_at_ms")


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
