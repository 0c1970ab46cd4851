"""Carries data over from the previous tick for parts that could not be read. Pure.

If a coordinator does not answer, its groups keep their last known rows: `reported_at_ms` is the
time of those rows, and the end offset is null. A broker that is down keeps its address. Each
problem keeps the time at which it began.
"""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.error_reason import Reason
from monitoring.gateway.wire import response_limits
from monitoring.ticks.schema import GROUPS
from monitoring.ticks.tick import Tick

OFFSETS_TOPIC = "__consumer_offsets"
_MOVING_INTERVALS = 3  # a new coordinator may need this long to load its groups


def carry_over(tick: Tick, previous: Tick | None, coordinators: set[int]) -> Tick:
    """`tick` with data of `previous`. `coordinators`: the brokers that listed their groups."""
    if previous is not None and previous.cluster_id != tick.cluster_id:
        previous = None  # another cluster has this address now
    silent = _silent_groups(tick, previous, coordinators) if previous is not None else None
    groups, invalid = tick.groups, tick.invalid
    if silent is not None and _has_room(tick.groups, silent):
        groups = pa.concat_tables([tick.groups, silent])
    elif silent is not None:
        invalid = [*invalid, Reason("silent_groups")]
    return replace(
        tick,
        invalid=invalid,
        brokers=_brokers(tick, previous),
        # The silent rows have dictionaries of their own; Redis gets one per column.
        groups=groups.unify_dictionaries(),
        groups_complete=tick.groups_complete and silent is None,
        since=_problem_starts(tick, previous),
    )


def _silent_groups(tick: Tick, previous: Tick, coordinators: set[int]) -> pa.Table | None:
    """The previous rows of groups whose coordinator did not answer; None = there are none."""
    names = previous.groups["group"].cast(pa.string())
    current = pc.unique(tick.groups["group"].cast(pa.string()))
    absent = previous.groups.filter(pc.invert(pc.is_in(names, value_set=current)))
    leaders = _offsets_leaders(tick)
    silent = [
        row["group"]
        for row in _coordinator_rows(absent)
        if _is_silent(row, tick, previous.at_ms, leaders, coordinators)
    ]
    if not silent:
        return None
    rows = previous.groups.filter(pc.is_in(names, value_set=pa.array(silent, pa.string())))
    replaced = {
        "tick": pa.array([tick.tick] * len(rows), pa.int64()),
        "at_ms": pa.array([tick.at_ms] * len(rows), pa.int64()),
        "log_end_offset": pa.nulls(len(rows), pa.int64()),
        "reported_at_ms": pc.fill_null(rows["reported_at_ms"], previous.at_ms),
    }
    return pa.table({name: replaced.get(name, rows[name]) for name in GROUPS.names}, schema=GROUPS)


def _coordinator_rows(groups: pa.Table) -> list[dict[str, Any]]:
    """group, coordinator and reported_at_ms, one row per group."""
    plain = groups.select(["coordinator", "reported_at_ms"])
    plain = plain.append_column("group", groups["group"].cast(pa.string()))
    aggregates = [("coordinator", "first"), ("reported_at_ms", "first")]
    aggregated = plain.group_by("group", use_threads=False).aggregate(aggregates)
    named = aggregated.rename_columns(
        [name.removesuffix("_first") for name in aggregated.column_names]
    )
    rows: list[dict[str, Any]] = named.to_pylist()
    return rows


def _offsets_leaders(tick: Tick) -> dict[int, int]:
    """Partition of OFFSETS_TOPIC → its leader, which is the coordinator of the groups in it."""
    rows = tick.partitions.filter(
        pc.equal(tick.partitions["topic"].cast(pa.string()), OFFSETS_TOPIC)
    )
    partitions, leaders = rows["partition"].to_pylist(), rows["leader"].to_pylist()
    return dict(zip(partitions, leaders, strict=True))


def _is_silent(
    row: dict[str, Any],
    tick: Tick,
    previous_ms: int,
    leaders: dict[int, int],
    coordinators: set[int],
) -> bool:
    """Whether a missing group may still exist, since its coordinator cannot list it now."""
    previous, reported_at_ms = row["coordinator"], row["reported_at_ms"] or previous_ms
    current = leaders.get(partition_for(row["group"], len(leaders))) if leaders else previous
    is_moving = (
        current != previous and tick.at_ms - reported_at_ms <= _MOVING_INTERVALS * tick.interval_ms
    )
    return current not in coordinators or is_moving


def partition_for(group: str, count: int) -> int:
    """The partition of OFFSETS_TOPIC for a group: Java's hash of its name, as in Kafka."""
    units, value = group.encode("utf-16-be", "surrogatepass"), 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    if value & 0x80000000:
        value = (1 << 32) - value if value != 0x80000000 else 0
    return value % count


def _has_room(current: pa.Table, silent: pa.Table) -> bool:
    """Whether both fit into one tick; rows of several silent coordinators add up."""
    rows, size_bytes = len(current) + len(silent), current.nbytes + silent.nbytes
    return (
        rows <= response_limits.GROUP_ROWS_MAX
        and size_bytes <= response_limits.GROUP_TABLE_BYTES_MAX
    )


def _brokers(tick: Tick, previous: Tick | None) -> list[dict[str, Any]]:
    earlier = {row["id"]: row for row in previous.brokers} if previous else {}
    return [
        row if row["up"] else _broker_down(row, earlier.get(row["id"], {}), tick.at_ms)
        for row in tick.brokers
    ]


def _broker_down(row: dict[str, Any], earlier: dict[str, Any], at_ms: int) -> dict[str, Any]:
    address = {
        name: earlier.get(name) if row.get("host") is None else row.get(name)
        for name in ("host", "port", "rack")
    }
    return row | address | {"down_since_ms": earlier.get("down_since_ms") or at_ms}


def _problem_starts(tick: Tick, previous: Tick | None) -> dict[str, int]:
    problems = {"leaderless": _is_leaderless(tick), "zookeeper": tick.zookeeper_up is False}
    began = previous.since if previous else {}
    return {name: began.get(name, tick.at_ms) for name, exists in problems.items() if exists}


def _is_leaderless(tick: Tick) -> bool:
    return bool(pc.any(pc.less(tick.partitions["leader"], 0)).as_py())
