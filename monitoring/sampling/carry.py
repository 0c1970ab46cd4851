"""What a tick takes over from the one before it. Pure.

A fault must not look like an end: the groups of a coordinator that does not answer stay as it told
them last (`told_at_ms` says when; end offset and lag are not known), a broker that is down keeps
its address, and each trouble keeps the moment at which it began.
"""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.gateway.wire import limits
from monitoring.ticks.schema import GROUPS
from monitoring.ticks.tick import Tick

OFFSETS_TOPIC = "__consumer_offsets"
_MOVING_INTERVALS = 3  # a new coordinator may take so long until it lists what it took over


def carried(tick: Tick, before: Tick | None, coordinators: set[int]) -> Tick:
    """`tick` with what lasts from `before`; `coordinators` = the brokers that told their groups."""
    if before is not None and before.cluster_id != tick.cluster_id:
        before = None  # the address leads to another cluster now
    silent = _silent_groups(tick, before, coordinators) if before is not None else None
    groups, refused = tick.groups, tick.refused
    if silent is not None and _has_room(tick.groups, silent):
        groups = pa.concat_tables([tick.groups, silent])
    elif silent is not None:
        refused = [*refused, "groups whose coordinators do not answer, which are too many"]
    return replace(
        tick,
        refused=refused,
        brokers=_brokers(tick, before),
        groups=groups.unify_dictionaries(),
        groups_complete=tick.groups_complete and silent is None,
        since=_since(tick, before),
    )


def _has_room(told: pa.Table, silent: pa.Table) -> bool:
    """Whether both have room in one tick: coordinators that are silent in turn add up."""
    rows, size_bytes = len(told) + len(silent), told.nbytes + silent.nbytes
    return rows <= limits.GROUP_ROWS_MAX and size_bytes <= limits.GROUP_TABLE_BYTES_MAX


def _is_leaderless(tick: Tick) -> bool:
    return bool(pc.any(pc.less(tick.partitions["leader"], 0)).as_py())


def _since(tick: Tick, before: Tick | None) -> dict[str, int]:
    troubles = {"leaderless": _is_leaderless(tick), "zookeeper": tick.zookeeper_up is False}
    known = before.since if before else {}
    return {name: known.get(name, tick.at_ms) for name, lasts in troubles.items() if lasts}


def _brokers(tick: Tick, before: Tick | None) -> list[dict[str, Any]]:
    earlier = {row["id"]: row for row in before.brokers} if before else {}
    return [
        row if row["up"] else _down(row, earlier.get(row["id"], {}), tick.at_ms)
        for row in tick.brokers
    ]


def _down(row: dict[str, Any], then: dict[str, Any], at_ms: int) -> dict[str, Any]:
    address = {
        name: then.get(name) if row.get("host") is None else row.get(name)
        for name in ("host", "port", "rack")
    }
    return row | address | {"down_since_ms": then.get("down_since_ms") or at_ms}


def _silent_groups(tick: Tick, before: Tick, coordinators: set[int]) -> pa.Table | None:
    """The rows of the groups that nobody could tell of in this tick; None = of none."""
    names = before.groups["group"].cast(pa.string())
    here = pc.unique(tick.groups["group"].cast(pa.string()))
    absent = before.groups.filter(pc.invert(pc.is_in(names, value_set=here)))
    leaders = _offsets_leaders(tick)
    silent = [
        row["group"]
        for row in _facts(absent)
        if _is_silent(row, tick, before.at_ms, leaders, coordinators)
    ]
    if not silent:
        return None
    rows = before.groups.filter(pc.is_in(names, value_set=pa.array(silent, pa.string())))
    unknown = pa.nulls(len(rows), pa.int64())
    now_is = {
        "tick": pa.array([tick.tick] * len(rows), pa.int64()),
        "at_ms": pa.array([tick.at_ms] * len(rows), pa.int64()),
        "log_end_offset": unknown,
        "lag": unknown,
        "told_at_ms": pc.fill_null(rows["told_at_ms"], before.at_ms),
    }
    return pa.table({name: now_is.get(name, rows[name]) for name in GROUPS.names}, schema=GROUPS)


def _facts(groups: pa.Table) -> list[dict[str, Any]]:
    """group, coordinator and told_at_ms of each group, once."""
    plain = groups.select(["coordinator", "told_at_ms"])
    plain = plain.append_column("group", groups["group"].cast(pa.string()))
    aggregates = [("coordinator", "first"), ("told_at_ms", "first")]
    found = plain.group_by("group", use_threads=False).aggregate(aggregates)
    named = found.rename_columns([n.removesuffix("_first") for n in found.column_names])
    rows: list[dict[str, Any]] = named.to_pylist()
    return rows


def _is_silent(
    row: dict[str, Any], tick: Tick, before_ms: int, leaders: dict[int, int], told: set[int]
) -> bool:
    """Whether a group that is absent may exist all the same."""
    was, told_at_ms = row["coordinator"], row["told_at_ms"] or before_ms
    now = leaders.get(partition_for(row["group"], len(leaders))) if leaders else was
    is_moving = now != was and tick.at_ms - told_at_ms <= _MOVING_INTERVALS * tick.interval_ms
    return now not in told or is_moving


def _offsets_leaders(tick: Tick) -> dict[int, int]:
    """Partition of OFFSETS_TOPIC → its leader, which coordinates the groups kept there."""
    rows = tick.partitions.filter(
        pc.equal(tick.partitions["topic"].cast(pa.string()), OFFSETS_TOPIC)
    )
    partitions, leaders = rows["partition"].to_pylist(), rows["leader"].to_pylist()
    return dict(zip(partitions, leaders, strict=True))


def partition_for(group: str, count: int) -> int:
    """Which partition of OFFSETS_TOPIC keeps a group: Java's hash of its name, as Kafka does."""
    units, value = group.encode("utf-16-be", "surrogatepass"), 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    if value & 0x80000000:
        value = (1 << 32) - value if value != 0x80000000 else 0
    return value % count
