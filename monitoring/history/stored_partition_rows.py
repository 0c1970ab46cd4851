"""The rows of partitions and topics at one tick, with what was written since the tick before. Pure.

Messages are the growth of the end offset, bytes that of the leader's counter:

- a new partition, and one of a topic that was created again, counts from its start offset;
- a topic was created again if its id changed or, where an id is not known, an end offset went back;
- an end offset that went back although the id is the same (the log was cut) adds nothing and has no
  rate;
- a leader that changed has another counter: no bytes are added;
- a counter that went back (the broker was restarted) adds its value and has no rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history.table_specs import EXISTS, PARTITIONS, TOPICS
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

NUMBER_BITS = 21  # of a partition's number, and of a topic's code in a group's key
_NUMBER_MASK = (1 << NUMBER_BITS) - 1


@dataclass(frozen=True, slots=True)
class Step:
    """The time between two ticks. `is_first`: there is no tick before; `is_rated`: no gap."""

    is_first: bool
    is_rated: bool


def topic_of(keys: Longs) -> Longs:
    """The code of the topic in a partition's key."""
    return keys >> NUMBER_BITS


def number_of(keys: Longs) -> Longs:
    """The partition's number in a partition's key."""
    return keys & _NUMBER_MASK


def by_key(table: pa.Table, topics: Codes) -> tuple[Longs, pa.Table]:
    """The keys of a tick's partitions, and the table in their order."""
    keys = (topics.of_column(table["topic"]) << NUMBER_BITS) + table["partition"].to_numpy()
    order = np.argsort(keys, kind="stable")
    return keys[order], table.take(order)


def partition_rows(
    keys: Longs, table: pa.Table, topic_ids: Codes, last: TickRows, step: Step
) -> TickRows:
    """The rows of a tick's partitions; `keys` and `table` are those of `by_key`."""
    rows = last.rows_of(keys)
    topic_id = Values.all_known(topic_ids.of_column(table["topic_id"]))
    topic_id = topic_id.where(topic_id.numbers >= 0)
    last_id = last.fact("topic_id", rows)
    leader = Values.of_column(table["leader"])
    start = Values.of_column(table["log_start_offset"])
    end = Values.of_column(table["log_end_offset"])
    last_end = last.reading("records", rows)
    has_ids = topic_id.known & last_id.known
    went_back = end.known & last_end.known & (end.numbers < last_end.numbers)
    is_recreated = np.where(has_ids, topic_id.numbers != last_id.numbers, went_back)
    is_new = (is_recreated | (rows < 0)) & (not step.is_first)
    is_same_leader = (leader.numbers == last.fact("leader", rows).numbers) | is_new
    steps = {"records": _counter_step(end, last_end, last.is_known("records", rows), is_new, start)}
    for counter in ("bytes_in", "bytes_out"):
        now = Values.of_column(table[counter])
        before = last.reading(counter, rows).where(is_same_leader)
        was_known = last.is_known(counter, rows) & is_same_leader
        steps[counter] = _counter_step(now, before, was_known, is_new, Values.unknown(len(keys)))
        restarted = now.known & before.known & (now.numbers < before.numbers) & ~is_new
        steps[counter].amount[restarted] = now.numbers[restarted]
    return TickRows(
        table=PARTITIONS,
        keys=keys,
        facts={
            "topic_id": topic_id.or_last(last_id.where(~is_new)),
            "leader": leader,
            "replicas": _lengths(table["replicas"]),
            "in_sync": _lengths(table["isr"]),
            "log_start_offset": start.or_last(last.fact("log_start_offset", rows)),
            "log_end_offset": end.or_last(last.fact("log_end_offset", rows)),
        },
        gauges={"size_bytes": Values.of_column(table["size_bytes"])},
        state=EXISTS | bits_of(PARTITIONS, {name: c.now.known for name, c in steps.items()}),
        amounts={name: c.amount for name, c in steps.items()},
        rated=bits_of(PARTITIONS, {n: c.is_valid & step.is_rated for n, c in steps.items()}),
        readings={name: c.now.or_last(c.base) for name, c in steps.items()},
    )


@dataclass(frozen=True, slots=True)
class _CounterStep:
    """A counter's step; `is_valid`: it began at the tick before and the counter did not go back."""

    now: Values
    base: Values
    amount: Longs
    is_valid: Flags


def _counter_step(
    now: Values, before: Values, was_known: Flags, is_new: Flags, start: Values
) -> _CounterStep:
    """The growth since the last known reading; of what is new, since `start` (unknown = 0)."""
    base = Values(np.where(is_new, start.numbers, before.numbers), before.known | is_new)
    amount, is_valid = growth(now, base)
    return _CounterStep(now, base, amount, is_valid & (was_known | is_new))


def topic_rows(table: pa.Table, partitions: TickRows) -> TickRows:
    """The sums over `partitions`, by topic; `table` is that of `by_key`."""
    keys, code = np.unique(topic_of(partitions.keys), return_inverse=True)
    sums = Sums(code, len(keys))
    replicas, in_sync = partitions.facts["replicas"].numbers, partitions.facts["in_sync"].numbers
    count = sums.parts(np.ones(len(code), dtype=bool))
    is_offline = partitions.facts["leader"].numbers < 0
    return TickRows(
        table=TOPICS,
        keys=keys,
        facts={
            "partitions": Values.all_known(count),
            "under_replicated": Values.all_known(sums.parts(in_sync < replicas)),
            "offline": Values.all_known(sums.parts(is_offline)),
        },
        gauges={
            "size_bytes": sums.total(partitions.gauges["size_bytes"]),
            "disk_bytes": sums.total(disk_bytes(table, replicas)),
        },
        state=sums.state(TOPICS, partitions),
        amounts=sums.amounts(TOPICS, partitions),
        rated=sums.rated(TOPICS, partitions),
    )


def disk_bytes(table: pa.Table, replicas: Longs) -> Values:
    """The size of all replicas of each partition; known if that of each replica is."""
    sizes = Values.of_column(table["replicas_size_bytes"])
    return sizes.where(Values.of_column(table["replicas_reported"]).numbers >= replicas)


def _lengths(lists: pa.ChunkedArray) -> Values:
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    return Values.all_known(lengths.to_numpy().astype(np.int64))
