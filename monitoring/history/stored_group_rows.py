"""The rows of consumer groups at one tick: by partition, by topic, by group. Pure.

What a group consumed is the growth of its committed offset. A committed offset that went back (an
offset reset) adds nothing and has no rate; the first commit adds nothing. A negative lag counts as
0. Partitions without a commit are no parts of a sum.

If a coordinator does not answer, its groups exist, and nothing of them is known. A sum is
unanswered if one of its partitions is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from monitoring.history.stored_partition_rows import NUMBER_BITS, Step
from monitoring.history.table_specs import (
    EXISTS,
    GROUP_PARTITIONS,
    GROUP_TOPICS,
    GROUPS,
    UNANSWERED,
)
from monitoring.history.tick_rows import (
    Codes,
    Flags,
    Longs,
    Sums,
    TickRows,
    Values,
    bits_of,
    growth,
)
from monitoring.lag.formula import counted_lag, has_lag, lag_between


class GroupTable:
    """A tick's groups (GROUPS of monitoring/ticks/schema.py), sorted by group, topic, partition."""

    def __init__(self, table: pa.Table, groups: Codes, topics: Codes) -> None:
        group, topic = groups.of_column(table["group"]), topics.of_column(table["topic"])
        partition = Values.of_column(table["partition"]).numbers
        # A group without partitions is one row with topic −1: in front of its topics.
        keys = ((group << NUMBER_BITS) + topic << NUMBER_BITS) + partition
        _, first = np.unique(keys, return_index=True)
        self.table = table.take(first)
        self.group, self.topic, self.keys = group[first], topic[first], keys[first]
        self.is_answered: Flags = self.table["reported_at_ms"].is_null().to_numpy()
        self.is_partition: Flags = self.topic >= 0
        self.committed = Values.of_column(self.table["committed_offset"])
        self.end = Values.of_column(self.table["log_end_offset"])


def group_partition_rows(table: GroupTable, last: TickRows, step: Step) -> TickRows:
    """A row for each group and partition that it committed or is assigned."""
    mask = table.is_partition
    keys, answered = table.keys[mask], table.is_answered[mask]
    committed = _masked(table.committed, mask).where(answered)
    end = _masked(table.end, mask).where(answered)
    rows = last.rows_of(keys)
    base = last.reading("consumed", rows)
    amount, is_valid = growth(committed, base)
    is_rated = is_valid & last.is_known("consumed", rows) & step.is_rated
    lag = Values(counted_lag(committed.numbers, end.numbers), has_lag(committed.known, end.known))
    state = EXISTS | bits_of(GROUP_PARTITIONS, {"consumed": committed.known})
    return TickRows(
        table=GROUP_PARTITIONS,
        keys=keys,
        facts={
            "committed_offset": committed.or_last(last.fact("committed_offset", rows)),
            "log_end_offset": end.or_last(last.fact("log_end_offset", rows)),
        },
        gauges={"lag": lag.where(lag.known)},
        state=state | _unanswered(~answered | (committed.known & ~end.known)),
        amounts={"consumed": amount},
        rated=bits_of(GROUP_PARTITIONS, {"consumed": is_rated}),
        readings={"consumed": committed.or_last(base)},
    )


def group_topic_rows(table: GroupTable, partitions: TickRows) -> TickRows:
    """The sums over `partitions`, by group and topic."""
    keys, code = np.unique(partitions.keys >> NUMBER_BITS, return_inverse=True)
    mask = table.is_partition
    sums, is_committed = Sums(code, len(keys)), table.committed.known[mask]
    every = np.ones(len(code), dtype=bool)
    return TickRows(
        table=GROUP_TOPICS,
        keys=keys,
        facts={
            "partitions": Values.all_known(sums.parts(every)),
            "not_committed": Values.all_known(sums.parts(~is_committed)),
            "ahead": Values.all_known(sums.parts(_is_ahead(table)[mask])),
        },
        gauges={"lag": sums.total(partitions.gauges["lag"], is_committed)},
        state=sums.state(GROUP_TOPICS, partitions, is_committed)
        | _unanswered(_has_unanswered_part(sums, partitions)),
        amounts=sums.amounts(GROUP_TOPICS, partitions),
        rated=sums.rated(GROUP_TOPICS, partitions, is_committed),
    )


def group_rows(table: GroupTable, partitions: TickRows, states: Codes, last: TickRows) -> TickRows:
    """A row for each group, with the sums over `partitions`."""
    keys, first = np.unique(table.group, return_index=True)
    code = np.searchsorted(keys, table.group[table.is_partition])
    sums, mask = Sums(code, len(keys)), table.is_partition
    is_committed = table.committed.known[mask]
    facts, answered = table.table.take(first), table.is_answered[first]
    state = Values.all_known(states.of_column(facts["state"]))
    lag = sums.total(partitions.gauges["lag"], is_committed)
    rows = last.rows_of(keys)
    return TickRows(
        table=GROUPS,
        keys=keys,
        facts={
            "group_state": state.where(answered & (state.numbers >= 0)),
            "coordinator": Values.of_column(facts["coordinator"]).or_last(
                last.fact("coordinator", rows)
            ),
            "ahead": Values.all_known(sums.parts(_is_ahead(table)[mask])),
            "not_committed": Values.all_known(sums.parts(~is_committed)),
        },
        gauges={
            "lag": lag,
            "members": Values.of_column(facts["members"]).where(answered),
            "behind": Values((lag.numbers > 0).astype(np.int64), lag.known),
        },
        state=sums.state(GROUPS, partitions, is_committed)
        | _unanswered(~answered | _has_unanswered_part(sums, partitions)),
        amounts=sums.amounts(GROUPS, partitions),
        rated=sums.rated(GROUPS, partitions, is_committed),
    )


def add_unread_groups(rows: TickRows, last: TickRows) -> TickRows:
    """`rows`, and the rows of `last` for groups that could not be read in this tick."""
    missing = np.flatnonzero((rows.rows_of(last.keys) < 0) & (last.state > 0))
    if not len(missing):
        return rows
    keys = np.concatenate([rows.keys, last.keys[missing]])
    order = np.argsort(keys, kind="stable")
    none = np.zeros(len(missing), dtype=np.int64)

    def joined(now: Longs, more: Longs) -> Longs:
        return np.concatenate([now, more])[order]

    def values(now: Values, more: Values) -> Values:
        return Values(joined(now.numbers, more.numbers), joined(now.known, more.known))

    unknown = Values.unknown(len(missing))
    return replace(
        rows,
        keys=keys[order],
        facts={n: values(v, last.facts[n].take(missing)) for n, v in rows.facts.items()},
        gauges={n: values(v, unknown) for n, v in rows.gauges.items()},
        state=joined(rows.state, none + (EXISTS | UNANSWERED)),
        amounts={n: joined(v, none) for n, v in rows.amounts.items()},
        rated=joined(rows.rated, none),
        readings={n: values(v, last.reading(n, missing)) for n, v in rows.readings.items()},
    )


def _unanswered(flags: Flags) -> Longs:
    """The bit of the state where the flag is set."""
    return np.where(flags, UNANSWERED, 0)


def _has_unanswered_part(sums: Sums, partitions: TickRows) -> Flags:
    found: Flags = sums.parts((partitions.state & UNANSWERED) > 0) > 0
    return found


def _masked(values: Values, mask: Flags) -> Values:
    return Values(values.numbers[mask], values.known[mask])


def _is_ahead(table: GroupTable) -> Flags:
    both = has_lag(table.committed.known, table.end.known) & table.is_answered
    ahead: Flags = both & (lag_between(table.committed.numbers, table.end.numbers) < 0)
    return ahead
