"""A day of raw rows as a pattern for days of the past. Pure.

A pattern is the tables of the raw level (history/table_specs.py) of a whole day. No topic, group or
broker appears or disappears in it, and the rows of its first tick continue those of its last tick.
So the same day can be written for each day of the past. Offsets and topic ids are null: those of
the past are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.table_specs import CLUSTER, EXISTS, RAW_TICKS, TABLES, TICKS, Table
from monitoring.history.tick_changes import KeyNames, TickChanges
from monitoring.ticks.tick import Tick

HOURS_A_DAY = DAY_MS // HOUR_MS
_UNKNOWN_FACTS = ("topic_id", "log_start_offset", "log_end_offset", "committed_offset")
_COMPLETE = 0.9  # the share of an hour's ticks that makes it complete
_EDGE_TICKS = 3  # how far from its ends the first and last tick of a complete hour may be

RowsByTable = Mapping[str, pa.Table]  # `ticks` included


class NotSteady(ValueError):
    """A topic, group or broker appears or disappears in the pattern."""


@dataclass(frozen=True, slots=True)
class Hour:
    """A recorded hour."""

    start_ms: int
    tables: RowsByTable


def is_complete(ticks: pa.Table, hour_ms: int) -> bool:
    """Whether the hour was sampled from its start to its end."""
    sampled = ticks.filter(pc.field("status") == "ok")
    if not len(sampled):
        return False
    interval_ms = int(pc.max(ticks["interval_ms"]).as_py())
    first_ms, last_ms = pc.min(sampled["at_ms"]).as_py(), pc.max(sampled["at_ms"]).as_py()
    edge_ms = _EDGE_TICKS * interval_ms
    return bool(
        len(sampled) * interval_ms >= _COMPLETE * HOUR_MS
        and first_ms < hour_ms + edge_ms
        and last_ms >= hour_ms + HOUR_MS - edge_ms
    )


def is_steady(rows: pa.Table) -> bool:
    """Whether every key of these raw rows exists before and after each of its rows."""
    states = np.bitwise_and(rows["state_before"].to_numpy(), rows["state"].to_numpy())
    return bool(((states & EXISTS) > 0).all())


def hours_used(count: int) -> int:
    """How many of `count` recorded hours make a day: a divisor of 24, so that days are equal."""
    divisors = [hours for hours in range(1, HOURS_A_DAY + 1) if HOURS_A_DAY % hours == 0]
    return max(hours for hours in divisors if hours <= count)


def day_of_hours(hours: Sequence[Hour], day_ms: int) -> dict[str, pa.Table]:
    """A day that starts at `day_ms` and repeats these consecutive hours. Raises NotSteady."""
    parts: dict[str, list[pa.Table]] = {}
    for number in range(HOURS_A_DAY):
        hour = hours[number % len(hours)]
        by_ms = day_ms + number * HOUR_MS - hour.start_ms
        for name, rows in hour.tables.items():
            parts.setdefault(name, []).append(shifted(rows, by_ms))
    return as_pattern({name: pa.concat_tables(tables) for name, tables in parts.items()})


def shifted(rows: pa.Table, by_ms: int) -> pa.Table:
    """The rows at another time."""
    moved = _set_column(rows, "at_ms", pc.add(rows["at_ms"], by_ms))
    if "tick" in rows.column_names:
        ticks = pc.add(rows["tick"], pc.divide(pa.scalar(by_ms), rows["interval_ms"]))
        moved = _set_column(moved, "tick", ticks)
    return moved


def as_pattern(tables: RowsByTable) -> dict[str, pa.Table]:
    """The day as a pattern: its first tick continues its last one, and offsets are null.

    Raises NotSteady.
    """
    ticks = tables[TICKS].filter(pc.field("status") == "ok")
    first_ms = pc.min(ticks["at_ms"]).as_py()
    found = {TICKS: tables[TICKS].select(RAW_TICKS.names)}
    for name, table in TABLES.items():
        if name in tables:
            found[name] = _joined_rows(table, _without_offsets(table, tables[name]), first_ms)
    return found


def _joined_rows(table: Table, rows: pa.Table, first_ms: int) -> pa.Table:
    """The rows, in which those of the first tick have the values of the last one as their values
    before. Raises NotSteady."""
    rows = rows.combine_chunks().unify_dictionaries()
    keys, times = KeyNames().keys(table, rows), rows["at_ms"].to_numpy()
    order = np.lexsort((times, keys))
    newest = order[np.append(np.diff(keys[order]) != 0, True)[: len(order)]]
    is_first = times == first_ms
    if not np.array_equal(np.sort(keys[is_first]), keys[newest]) or not is_steady(
        rows.filter(pa.array(~is_first))
    ):
        raise NotSteady(f"not every row of {table.name} is there all the time")
    last = pa.array(newest[np.searchsorted(keys[newest], keys[is_first])])
    mask = pa.array(is_first)
    befores = {"state_before": "state"} | {f"{gauge}_before": gauge for gauge in table.gauges}
    for before, after in befores.items():
        column = rows[before].combine_chunks()
        values = rows[after].combine_chunks().take(last)
        rows = _set_column(rows, before, pc.replace_with_mask(column, mask, values))
    repeated = pc.and_(rows["repeated"].combine_chunks(), pc.invert(mask))
    return _set_column(rows, "repeated", repeated)


def _without_offsets(table: Table, rows: pa.Table) -> pa.Table:
    for name in _UNKNOWN_FACTS:
        if name in table.facts:
            rows = _set_column(rows, name, pa.nulls(len(rows), table.facts[name]))
    return rows


def cut_day(tables: RowsByTable, end_ms: int) -> dict[str, pa.Table]:
    """The part of a day before `end_ms`; with its last tick everything disappears.

    The recorded history that follows begins with new keys, so those of the pattern must end.
    """
    kept = {name: rows.filter(pc.field("at_ms") < end_ms) for name, rows in tables.items()}
    sampled = kept[TICKS].filter(pc.field("status") == "ok").sort_by("at_ms")
    *_, before_ms, last_ms = sampled["at_ms"].to_pylist()
    last = sampled.slice(len(sampled) - 1).to_pylist()[0]
    before = {
        name: rows.filter(pc.field("at_ms") < last_ms)
        for name, rows in kept.items()
        if name != TICKS
    }
    changes = TickChanges()
    changes.restore({name: [rows] for name, rows in before.items()}, before_ms)
    empty = Tick(cluster="", tick=last["tick"], at_ms=last_ms, interval_ms=last["interval_ms"])
    ended = changes.changed_tables(empty)
    ended[CLUSTER.name] = _set_column(
        ended[CLUSTER.name], "state", pa.array([0] * len(ended[CLUSTER.name]), pa.int32())
    )
    found = {
        name: pa.concat_tables([rows, ended[name]]) if name in ended else rows
        for name, rows in before.items()
    }
    return found | {TICKS: kept[TICKS]}


def _set_column(rows: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    index = rows.schema.get_field_index(name)
    return rows.set_column(
        index, rows.schema.field(name), values.cast(rows.schema.field(name).type)
    )
