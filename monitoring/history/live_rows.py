"""The raw rows of some keys in the live window, made as the history worker makes them
(tick_changes.py).

A page asks for them again at every tick, and each of its charts does. So they stay in memory, and
only the rows of new ticks are made (live_ticks.py): of all topics that charts show at the same
time, and of all groups, since the rows of 50 topics cost about as much as those of one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from dataclasses import field as attribute

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history import live_ticks
from monitoring.history.live_ticks import Window
from monitoring.history.parquet_rows_by_key import rows_of_key
from monitoring.history.table_specs import (
    BROKERS,
    CLUSTER,
    GROUP_PARTITIONS,
    GROUP_TOPICS,
    GROUPS,
    LOG_DIRS,
    PARTITIONS,
    RAW_TICKS,
    TICKS,
    TOPICS,
    RowKey,
    Table,
)
from monitoring.history.tick_changes import TickChanges
from monitoring.redis_client import RedisDown
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick

_NAMES_MAX = 1024  # of topics or groups, of the charts of 50 browsers
_ROW_SETS_MAX = 64  # three of each cluster
_CHUNKS_MAX = 32
_UNUSED_MS_MAX = 5 * 60 * 1000
_TICKS_BEFORE = 4  # a step begins at the tick before; `at_ms` is behind a tick's start


@dataclass(frozen=True, slots=True)
class _RowSet:
    """Tables whose rows are made together. With a `name_column`, only the rows of the topics or
    groups that were asked for are made."""

    tables: frozenset[str]
    name_column: str = ""


_OF_TOPICS = _RowSet(frozenset({TOPICS.name, PARTITIONS.name}), "topic")
_OF_GROUPS = _RowSet(frozenset({GROUPS.name, GROUP_TOPICS.name, GROUP_PARTITIONS.name}), "group")
_OF_CLUSTER = _RowSet(frozenset({BROKERS.name, LOG_DIRS.name, CLUSTER.name}))
_ROW_SETS = {
    name: row_set for row_set in (_OF_TOPICS, _OF_GROUPS, _OF_CLUSTER) for name in row_set.tables
}


@dataclass
class _LiveRows:
    """The rows of a set of tables from the ticks that began at `begin_ms` or later."""

    begin_ms: int
    names: OrderedDict[str, None] = attribute(default_factory=OrderedDict)  # used last = last
    window: Window | None = None
    changes: TickChanges = attribute(default_factory=TickChanges)
    ticks: pa.Table = attribute(default_factory=RAW_TICKS.empty_table)
    rows: dict[str, pa.Table] = attribute(default_factory=dict)  # by table
    last_start_ms: int = -1


_live_rows: OrderedDict[tuple[str, _RowSet], _LiveRows] = OrderedDict()  # used last = last
_lock = threading.Lock()


def rows_since(slug: str, table: Table, key: RowKey, from_ms: int) -> tuple[pa.Table, pa.Table]:
    """The rows of the ticks table and of the key from `from_ms` on, and the row before them.

    The row before has the values of the first ticks, if nothing changed in them. Without Redis
    those that are known.
    """
    begin_ms = from_ms - _TICKS_BEFORE * tick_stream.interval_ms()
    row_set = _ROW_SETS[table.name]
    with _lock:  # also so that charts of one page do not decode the same ticks at once
        live = _live_rows.pop((slug, row_set), None) or _LiveRows(begin_ms)
        live = _with_name(live, str(key.get(row_set.name_column, "")), begin_ms)
        try:
            window = live_ticks.window(slug, begin_ms)
            if live.window is not window:
                live = _LiveRows(begin_ms, live.names, window)
            _continue(live, window, row_set)
        except RedisDown:
            pass
        _live_rows[slug, row_set] = live
        if len(_live_rows) > _ROW_SETS_MAX:
            _live_rows.popitem(last=False)
        ticks, rows = live.ticks, live.rows.get(table.name)
    if rows is None:
        rows = table.raw_schema.empty_table()
    of_key = rows_of_key(rows, key)
    return ticks.filter(pc.field("at_ms") >= from_ms), _from_row_at(of_key, from_ms)


def _with_name(live: _LiveRows, name: str, begin_ms: int) -> _LiveRows:
    """Live rows with this name: empty ones if the rows do not have it, or begin later or so much
    earlier that most of them are not needed any more."""
    begin_ms = max(begin_ms, live.last_start_ms - tick_stream.LIVE_MS)
    is_known = name in live.names and begin_ms - _UNUSED_MS_MAX <= live.begin_ms <= begin_ms
    live.names[name] = None
    live.names.move_to_end(name)
    if len(live.names) > _NAMES_MAX:
        live.names.popitem(last=False)
    return live if is_known else _LiveRows(begin_ms, live.names)


def _continue(live: _LiveRows, window: Window, row_set: _RowSet) -> None:
    """Add the rows of new ticks. Raises RedisDown."""
    for tick in window.ticks_since(max(live.begin_ms, live.last_start_ms + 1)):
        of_names = _for_names(tick, row_set, list(live.names))
        tables = live.changes.changed_tables(of_names, row_set.tables)
        live.ticks = _appended(live.ticks, tables.pop(TICKS))
        for name, added in tables.items():
            live.rows[name] = _appended(live.rows.get(name), added)
        live.last_start_ms = tick.start_ms


def _appended(before: pa.Table | None, added: pa.Table) -> pa.Table:
    if before is None:
        return added
    joined = pa.concat_tables([before, added])
    return joined.combine_chunks() if joined.column(0).num_chunks > _CHUNKS_MAX else joined


def _from_row_at(rows: pa.Table, at_ms: int) -> pa.Table:
    """The rows from `at_ms` on, and the row before them."""
    first = int(np.searchsorted(rows["at_ms"].to_numpy(), at_ms))
    return rows.slice(max(first - 1, 0))


def _for_names(tick: Tick, row_set: _RowSet, names: list[str]) -> Tick:
    """The tick with the rows of these topics or groups alone."""
    if row_set is _OF_CLUSTER:
        return tick
    return replace(
        tick,
        partitions=_rows_of_names(tick.partitions, "topic", names if row_set is _OF_TOPICS else []),
        groups=_rows_of_names(tick.groups, "group", names if row_set is _OF_GROUPS else []),
    )


def _rows_of_names(rows: pa.Table, column: str, names: list[str]) -> pa.Table:
    """The rows with these names; names are looked for in the dictionary, which is short."""
    names_column = (
        rows[column].combine_chunks() if rows[column].num_chunks != 1 else rows[column].chunk(0)
    )
    codes = pc.index_in(pa.array(names, pa.string()), names_column.dictionary).drop_null()
    found = rows.filter(pc.is_in(names_column.indices, codes))
    # The few rows still have the names of all topics and groups: TickChanges would number all.
    for index, field in enumerate(found.schema):
        if pa.types.is_dictionary(field.type):
            texts = found.column(index).cast(field.type.value_type)
            found = found.set_column(index, field, texts.cast(field.type))
    return found


def forget() -> None:
    """Empty the cache, for tests."""
    with _lock:
        _live_rows.clear()
        live_ticks.forget()
