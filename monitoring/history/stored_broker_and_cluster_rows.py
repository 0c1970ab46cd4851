"""The rows of the brokers and of the whole cluster at one tick. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from monitoring.history.stored_partition_rows import NUMBER_BITS, Step, disk_bytes
from monitoring.history.table_specs import BROKERS, CLUSTER, EXISTS, LOG_DIRS
from monitoring.history.tick_rows import Codes, Longs, Sums, TickRows, Values, bits_of, growth
from monitoring.ticks.tick import Tick

_MS = 1000


def broker_rows(tick: Tick, partitions: TickRows, last: TickRows, step: Step) -> TickRows:
    """A row for each broker. A counter that went back (a restart) adds its value, without a
    rate."""
    brokers = sorted(tick.brokers, key=lambda broker: int(broker["id"]))
    keys = np.array([broker["id"] for broker in brokers], dtype=np.int64)
    rows = last.rows_of(keys)
    leaders, counts_of_leaders = np.unique(partitions.facts["leader"].numbers, return_counts=True)
    led_counts = dict(zip(leaders.tolist(), counts_of_leaders.tolist(), strict=True))
    amounts, rated, known, readings = {}, {}, {}, {}
    for counter in BROKERS.counters:
        now = Values.of_optional(_reading(broker, counter) for broker in brokers)
        base = last.reading(counter, rows)
        amounts[counter], is_valid = growth(now, base)
        restarted = now.known & base.known & (now.numbers < base.numbers)
        amounts[counter][restarted] = now.numbers[restarted]
        rated[counter] = is_valid & last.is_known(counter, rows) & step.is_rated
        known[counter], readings[counter] = now.known, now.or_last(base)
    gauges = {
        name: Values.of_optional(broker.get(name) for broker in brokers)
        for name in BROKERS.gauges
        if name != "leaders"
    }
    counts = np.array([led_counts.get(broker["id"], 0) for broker in brokers], dtype=np.int64)
    return TickRows(
        table=BROKERS,
        keys=keys,
        facts={"up": Values.all_known(np.array([bool(b["up"]) for b in brokers], dtype=np.int64))},
        gauges=gauges | {"leaders": Values.all_known(counts)},
        state=EXISTS | bits_of(BROKERS, known),
        amounts=amounts,
        rated=bits_of(BROKERS, rated),
        readings=readings,
    )


def log_dir_rows(tick: Tick, log_dirs: Codes) -> TickRows:
    """A row for each log directory of each broker."""
    found = {
        (int(broker["id"]) << NUMBER_BITS) + log_dirs.code(log_dir["path"]): log_dir
        for broker in tick.brokers
        for log_dir in broker.get("log_dirs") or []
    }
    keys = np.array(sorted(found), dtype=np.int64)
    values = {
        name: Values.of_optional(found[key][name] for key in keys.tolist())
        for name in LOG_DIRS.gauges
    }
    return TickRows(
        table=LOG_DIRS,
        keys=keys,
        facts={},
        gauges=values,
        state=np.full(len(keys), EXISTS, dtype=np.int64),
        rated=np.zeros(len(keys), dtype=np.int64),
    )


def _reading(broker: dict[str, Any], counter: str) -> float | None:
    if counter != "cpu_ms":
        value: float | None = broker.get(counter)
        return value
    seconds = broker.get("cpu_seconds")
    return None if seconds is None else seconds * _MS


def cluster_row(
    tick: Tick, table: pa.Table, partitions: TickRows, topics: TickRows, groups: TickRows
) -> TickRows:
    """The row of the whole cluster; `table` is that of `partition_rows.by_key`."""
    all_partitions = Sums(np.zeros(len(partitions.keys), dtype=np.int64), 1)
    all_groups = Sums(np.zeros(len(groups.keys), dtype=np.int64), 1)
    # A group that never committed has no lag, and so is no part of the sum.
    has_lag = groups.gauges["lag"].known | ((groups.state & groups.table.counter_bits) > 0)
    state = all_partitions.state(CLUSTER, partitions) | all_groups.state(CLUSTER, groups, has_lag)
    rated = all_partitions.rated(CLUSTER, partitions) | all_groups.rated(CLUSTER, groups, has_lag)
    lag = all_groups.total(groups.gauges["lag"], has_lag)
    counts = {
        "topics": len(topics.keys),
        "partitions": len(partitions.keys),
        "groups": len(groups.keys),
        "brokers": len(tick.brokers),
        "brokers_up": sum(bool(broker["up"]) for broker in tick.brokers),
        "under_replicated": int(topics.facts["under_replicated"].numbers.sum()),
        "offline": int(topics.facts["offline"].numbers.sum()),
        "controller": tick.controller_id,
    }
    amounts = all_partitions.amounts(CLUSTER, partitions)
    amounts["consumed"] = all_groups.amounts(CLUSTER, groups)["consumed"]
    return TickRows(
        table=CLUSTER,
        keys=_CLUSTER_KEY,
        facts={name: Values.of_optional([count]) for name, count in counts.items()},
        gauges={
            "lag": lag.where(np.array([tick.groups_complete])),
            "size_bytes": all_partitions.total(partitions.gauges["size_bytes"]),
            "disk_bytes": all_partitions.total(
                disk_bytes(table, partitions.facts["replicas"].numbers)
            ),
        },
        state=state,
        amounts=amounts,
        rated=rated,
    )


_CLUSTER_KEY: Longs = np.zeros(1, dtype=np.int64)
