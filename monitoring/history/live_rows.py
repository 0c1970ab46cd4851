"""The raw rows of one key in the live window, made as the history worker makes them
(tick_changes.py).

A page asks for them again at every tick, and each of its charts does. So they stay in memory, for
the keys that were asked for last, and only the rows of new ticks are made (live_ticks.py).
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
from monitoring.history.key_rows import rows_of_key
from monitoring.history.live_ticks import Window
from monitoring.history.table_specs import CLUSTER, RAW_TICKS, TICKS, RowKey, Table
from monitoring.history.tick_changes import TickChanges
from monitoring.redis_client import RedisDown
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick

_KEYS_MAX = 1024  # of the charts of 50 browsers
_CHUNKS_MAX = 32
_TICKS_BEFORE = 4  # a step begins at the tick before; `at_ms` is behind a tick's start


@dataclass
class _KeyRows:
    """The rows of one key from the ticks that began at `begin_ms` or later."""

    begin_ms: int
    window: Window | None = None
    changes: TickChanges = attribute(default_factory=TickChanges)
    ticks: pa.Table = attribute(default_factory=RAW_TICKS.empty_table)
    rows: pa.Table | None = None
    last_start_ms: int = -1


_rows_by_key: OrderedDict[tuple[object, ...], _KeyRows] = OrderedDict()
_lock = threading.Lock()


def rows_since(slug: str, table: Table, key: RowKey, from_ms: int) -> tuple[pa.Table, pa.Table]:
    """The rows of the ticks table and of the key from `from_ms` on, and the row before them.

    The row before has the values of the first ticks, if nothing changed in them. Without Redis
    those that are known.
    """
    begin_ms = from_ms - _TICKS_BEFORE * tick_stream.interval_ms()
    name = (slug, table.name, *key.values())
    with _lock:  # also so that charts of one page do not decode the same ticks at once
        key_rows = _rows_by_key.pop(name, None)
        if key_rows is None or key_rows.begin_ms > begin_ms:
            key_rows = _KeyRows(begin_ms)
        try:
            window = live_ticks.window(slug, _tables(table, key), key_rows.begin_ms)
            if key_rows.window is not window:
                key_rows = _KeyRows(begin_ms, window)
            _continue(key_rows, window, table, key)
        except RedisDown:
            pass
        _rows_by_key[name] = key_rows
        if len(_rows_by_key) > _KEYS_MAX:
            _rows_by_key.popitem(last=False)
        ticks, rows = key_rows.ticks, key_rows.rows
    if rows is None:
        rows = table.raw_schema.empty_table()
    return ticks.filter(pc.field("at_ms") >= from_ms), _from_row_at(rows, from_ms)


def _continue(key_rows: _KeyRows, window: Window, table: Table, key: RowKey) -> None:
    """Add the rows of new ticks; drop those that have left the live window. Raises RedisDown."""
    for tick in window.ticks_since(max(key_rows.begin_ms, key_rows.last_start_ms + 1)):
        tables = key_rows.changes.changed_tables(_for_key(tick, key), table.name)
        key_rows.ticks = _appended(key_rows.ticks, tables[TICKS])
        if table.name in tables:
            key_rows.rows = _appended(key_rows.rows, rows_of_key(tables[table.name], key))
        key_rows.last_start_ms = tick.start_ms
    oldest_ms = key_rows.last_start_ms - tick_stream.LIVE_MS
    if oldest_ms > key_rows.begin_ms:
        key_rows.begin_ms = oldest_ms
        key_rows.ticks = key_rows.ticks.filter(pc.field("at_ms") >= oldest_ms)
        if key_rows.rows is not None:
            key_rows.rows = _from_row_at(key_rows.rows, oldest_ms)


def _appended(before: pa.Table | None, added: pa.Table) -> pa.Table:
    if before is None:
        return added
    joined = pa.concat_tables([before, added])
    return joined.combine_chunks() if joined.column(0).num_chunks > _CHUNKS_MAX else joined


def _from_row_at(rows: pa.Table, at_ms: int) -> pa.Table:
    """The rows from `at_ms` on, and the row before them."""
    first = int(np.searchsorted(rows["at_ms"].to_numpy(), at_ms))
    return rows.slice(max(first - 1, 0))


def _tables(table: Table, key: RowKey) -> tuple[str, ...]:
    """The tables of a tick that the rows are made from."""
    if table is CLUSTER:
        return ("partitions", "groups")
    return ("groups",) if "group" in key else ("partitions",)


def _for_key(tick: Tick, key: RowKey) -> Tick:
    """The tick with the rows of the key's topic or group alone."""
    if "group" in key:
        return replace(tick, groups=_rows_of_name(tick.groups, "group", str(key["group"])))
    if "topic" in key:
        return replace(tick, partitions=_rows_of_name(tick.partitions, "topic", str(key["topic"])))
    return tick


def _rows_of_name(rows: pa.Table, column: str, name: str) -> pa.Table:
    """The rows with that name; names are looked for in the dictionary, which is short."""
    names_column = (
        rows[column].combine_chunks() if rows[column].num_chunks != 1 else rows[column].chunk(0)
    )
    code = names_column.dictionary.index(name).as_py() if len(names_column) else -1
    found = rows.filter(pc.equal(names_column.indices, code)) if code >= 0 else rows.slice(0, 0)
    # The few rows still have the names of all topics and groups: TickChanges would number all.
    for index, field in enumerate(found.schema):
        if pa.types.is_dictionary(field.type):
            names = found.column(index).cast(field.type.value_type)
            found = found.set_column(index, field, names.cast(field.type))
    return found


def forget() -> None:
    """Empty the cache, for tests."""
    with _lock:
        _rows_by_key.clear()
        live_ticks.forget()
