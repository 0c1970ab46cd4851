"""What changed between two ticks, as rows of the raw level (table_specs.py). Pure.

`TickChanges` is given the ticks of a cluster in order and makes the tables that are written. It
remembers the rows of the last tick; after a restart `restore` sets them from stored tables, and
`recall` adds from the tick itself what is not stored.

`state` has bits: whether the key exists, and which counters are known (table_specs.py); 0 = the key
is gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.error_reason import dumps
from monitoring.history import (
    stored_broker_and_cluster_rows,
    stored_group_rows,
    stored_partition_rows,
)
from monitoring.history.levels import RAW
from monitoring.history.stored_partition_rows import Step
from monitoring.history.table_specs import (
    BROKERS,
    GROUP_PARTITIONS,
    GROUP_TOPICS,
    GROUPS,
    PARTITIONS,
    RAW_TICKS,
    TABLES,
    TICKS,
    Table,
)
from monitoring.history.tick_rows import Codes, Flags, Longs, TickRows, Values
from monitoring.ticks.tick import Tick

GAP_STEPS = 3  # a longer time between two samples, in sampling intervals, is a gap


@dataclass
class KeyNames:
    """The codes of all names of a cluster, and the key columns that they stand for."""

    topics: Codes = field(default_factory=Codes)
    groups: Codes = field(default_factory=Codes)
    states: Codes = field(default_factory=Codes)
    topic_ids: Codes = field(default_factory=Codes)
    log_dirs: Codes = field(default_factory=Codes)

    def columns(self, table: Table, keys: Longs) -> dict[str, pa.Array]:
        """The key columns of a table."""
        found = {}
        for position, name in reversed([*enumerate(table.keys)]):
            part = stored_partition_rows.number_of(keys) if position else keys
            codes = self._codes_of_key(name)
            found[name] = pa.array(part, pa.int32()) if codes is None else codes.to_column(part)
            keys = keys >> stored_partition_rows.NUMBER_BITS
        return found

    def keys(self, table: Table, rows: pa.Table) -> Longs:
        """The keys of stored rows."""
        keys = np.zeros(len(rows), dtype=np.int64)
        for name in table.keys:
            codes = self._codes_of_key(name)
            keys <<= stored_partition_rows.NUMBER_BITS
            keys += rows[name].to_numpy() if codes is None else codes.of_column(rows[name])
        return keys

    def _codes_of_key(self, name: str) -> Codes | None:
        return {"topic": self.topics, "group": self.groups, "log_dir": self.log_dirs}.get(name)

    def fact_column(self, name: str, kind: pa.DataType, values: Values) -> pa.Array:
        codes = self._codes_of_fact(name)
        if codes is None:
            return values.to_array(kind)
        return codes.to_column(np.where(values.known, values.numbers, -1)).cast(kind)

    def fact_values(self, name: str, column: pa.ChunkedArray) -> Values:
        """The reverse of `fact_column`."""
        codes = self._codes_of_fact(name)
        if codes is None:
            return Values.of_column(column.cast(pa.int64()))
        found = codes.of_column(column)
        return Values(np.maximum(found, 0), found >= 0)

    def _codes_of_fact(self, name: str) -> Codes | None:
        return {"group_state": self.states, "topic_id": self.topic_ids}.get(name)


class TickChanges:
    """Makes the raw rows of one cluster. `last_at_ms`: the time of its last sample; −1 = none.

    `lacks_readings`: it was restored, and the next amounts of some counters are unknown.
    """

    def __init__(self) -> None:
        self.last_at_ms = -1
        self.lacks_readings = False
        self._names = KeyNames()
        self._last = {name: TickRows.empty(table) for name, table in TABLES.items()}

    def changed_tables(
        self, tick: Tick, only: frozenset[str] = frozenset(TABLES)
    ) -> dict[str, pa.Table]:
        """The rows to be stored for the next tick, by table; tables without rows are left out.

        With `only`, just the rows of these tables. An instance must then always be called with the
        same ones, since it does not remember the rows of later tables.
        """
        if not tick.ok:
            return {TICKS: _tick_row(tick, None)}
        since_ms = tick.at_ms - self.last_at_ms
        is_first = self.last_at_ms < 0
        is_rated = not is_first and 0 < since_ms <= GAP_STEPS * tick.interval_ms
        is_complete = is_first or RAW.span_of(tick.at_ms) != RAW.span_of(self.last_at_ms)
        found = {TICKS: _tick_row(tick, since_ms if is_rated else None)}
        remaining = set(only)
        for rows in self._rows(tick, Step(is_first=is_first, is_rated=is_rated)):
            name, last = rows.table.name, self._last[rows.table.name]
            if name in only:
                changed = changed_rows(rows, last, self._names, tick.at_ms, is_rated, is_complete)
                if len(changed):
                    found[name] = changed
            self._last[name] = rows
            remaining.discard(name)
            if not remaining:
                break  # the rows of later tables are not made
        self.last_at_ms, self.lacks_readings = tick.at_ms, False
        return found

    def _rows(self, tick: Tick, step: Step) -> Iterator[TickRows]:
        """The rows of each table, made when they are asked for."""
        names, last = self._names, self._last
        keys, table = stored_partition_rows.by_key(tick.partitions, names.topics)
        yield (
            partitions := stored_partition_rows.partition_rows(
                keys, table, names.topic_ids, last[PARTITIONS.name], step
            )
        )
        yield (topics := stored_partition_rows.topic_rows(table, partitions))
        for groups in self._group_rows(tick, step):
            yield groups
        yield stored_broker_and_cluster_rows.broker_rows(tick, partitions, last[BROKERS.name], step)
        yield stored_broker_and_cluster_rows.log_dir_rows(tick, names.log_dirs)
        yield stored_broker_and_cluster_rows.cluster_row(tick, table, partitions, topics, groups)

    def _group_rows(self, tick: Tick, step: Step) -> Iterator[TickRows]:
        """The rows of the groups' tables; those of the groups come last."""
        names, last = self._names, self._last
        read = stored_group_rows.GroupTable(tick.groups, names.groups, names.topics)

        def complete(rows: TickRows, before: TickRows) -> TickRows:
            return (
                rows if tick.groups_complete else stored_group_rows.add_unread_groups(rows, before)
            )

        partitions_before, topics_before = last[GROUP_PARTITIONS.name], last[GROUP_TOPICS.name]
        groups_before = last[GROUPS.name]
        partitions = stored_group_rows.group_partition_rows(read, partitions_before, step)
        yield complete(partitions, partitions_before)
        yield complete(stored_group_rows.group_topic_rows(read, partitions), topics_before)
        groups = stored_group_rows.group_rows(read, partitions, names.states, groups_before)
        yield complete(groups, groups_before)

    def restore(self, stored: Mapping[str, Iterable[pa.Table]], last_at_ms: int) -> None:
        """Set the last rows from the stored rows of an hour: of each table, file by file in order.

        Readings of counters that are no offsets are not stored: without `recall` their next amount
        is unknown.
        """
        for name, files in stored.items():
            table = TABLES[name]
            newest = table.raw_schema.empty_table()
            for rows in files:
                newest = self._newest(table, pa.concat_tables([newest, rows]))
            self._last[name] = self._stored_rows(table, newest)
        self.last_at_ms, self.lacks_readings = last_at_ms, True

    def recall(self, tick: Tick) -> None:
        """Add the readings of the last sample, which is `tick`."""
        for rows in self._rows(tick, Step(is_first=False, is_rated=False)):
            last = self._last[rows.table.name]
            at = rows.rows_of(last.keys)
            readings = {counter: values.take(at) for counter, values in rows.readings.items()}
            self._last[rows.table.name] = replace(last, readings=readings | last.readings)
        self.lacks_readings = False

    def _newest(self, table: Table, rows: pa.Table) -> pa.Table:
        """The newest row of each key, sorted by key."""
        keys = self._names.keys(table, rows)
        order = np.lexsort((rows["at_ms"].to_numpy(), keys))
        is_newest = np.append(np.diff(keys[order]) != 0, True)[: len(order)]
        return rows.take(order[is_newest])

    def _stored_rows(self, table: Table, rows: pa.Table) -> TickRows:
        rows = rows.filter(pc.greater(rows["state"], 0))  # state 0: the key is gone
        keys = self._names.keys(table, rows)
        facts = {name: self._names.fact_values(name, rows[name]) for name in table.facts}
        readings = {
            counter: facts[fact]
            for counter, fact in _OFFSETS.items()
            if counter in table.counters and fact in facts
        }
        none = np.zeros(len(keys), dtype=np.int64)
        return TickRows(
            table=table,
            keys=keys,
            facts=facts,
            gauges={name: Values.of_column(rows[name]) for name in table.gauges},
            state=rows["state"].to_numpy().astype(np.int64),
            amounts=dict.fromkeys(table.counters, none),
            rated=none,
            readings=readings,
        )


# The counters whose reading is a stored offset.
_OFFSETS = {"records": "log_end_offset", "consumed": "committed_offset"}


def changed_rows(
    rows: TickRows,
    last: TickRows,
    names: KeyNames,
    at_ms: int,
    is_rated: bool,
    is_complete: bool,
) -> pa.Table:
    """The rows that differ from `last`, those of keys that ended, and, if `is_complete`, all."""
    before = last.rows_of(rows.keys)
    changed = _changed(rows, last, before, is_rated)
    chosen = np.flatnonzero(changed | is_complete)
    ended = np.flatnonzero((rows.rows_of(last.keys) < 0) & (last.state > 0))
    written = _columns(rows, last, names, chosen, before[chosen], ~changed[chosen])
    if len(ended):
        written = pa.concat_tables([written, _ended_rows(last, names, ended)])
    times = pa.array(np.full(len(written), at_ms, dtype=np.int64))
    return written.append_column("at_ms", times).select(rows.table.raw_schema.names)


def _changed(rows: TickRows, last: TickRows, before: Longs, is_rated: bool) -> Flags:
    """For each row whether it must be stored: a missing row means no change (table_specs.py)."""
    known = rows.state & rows.table.counter_bits
    changed: Flags = (before < 0) | (rows.state != last.state_of(before))
    changed |= (rows.rated & known) != (known if is_rated else 0)
    for name, fact in rows.facts.items():
        changed |= fact.differs(last.fact(name, before))
    for name, gauge in rows.gauges.items():
        changed |= gauge.differs(last.gauges[name].take(before))
    for amount in rows.amounts.values():
        changed |= amount != 0
    return changed


def _columns(
    rows: TickRows, last: TickRows, names: KeyNames, chosen: Longs, before: Longs, repeated: Flags
) -> pa.Table:
    table = rows.table
    columns: dict[str, pa.Array] = names.columns(table, rows.keys[chosen])
    columns |= {
        "repeated": pa.array(repeated),
        "state_before": pa.array(last.state_of(before), pa.int32()),
        "state": pa.array(rows.state[chosen], pa.int32()),
        "rated": pa.array(rows.rated[chosen], pa.int32()),
    }
    for name, kind in table.facts.items():
        columns[name] = names.fact_column(name, kind, rows.fact(name, chosen))
    for name in table.gauges:
        columns[f"{name}_before"] = last.gauges[name].take(before).to_array(pa.int64())
        columns[name] = rows.gauges[name].take(chosen).to_array(pa.int64())
    columns |= {name: pa.array(rows.amounts[name][chosen]) for name in table.counters}
    return pa.table(columns, schema=_without_time(table.raw_schema))


def _ended_rows(last: TickRows, names: KeyNames, ended: Longs) -> pa.Table:
    """Rows for keys that do not exist any more."""
    none = np.zeros(len(last.keys), dtype=np.int64)
    unknown = Values.unknown(len(last.keys))
    ended_rows = TickRows(
        table=last.table,
        keys=last.keys,
        facts=last.facts,
        gauges=dict.fromkeys(last.gauges, unknown),
        state=none,
        amounts=dict.fromkeys(last.table.counters, none),
        rated=none,
    )
    return _columns(ended_rows, last, names, ended, ended, np.zeros(len(ended), dtype=bool))


def _without_time(schema: pa.Schema) -> pa.Schema:
    return schema.remove(schema.get_field_index("at_ms"))


def _tick_row(tick: Tick, step_ms: int | None) -> pa.Table:
    row = {
        "at_ms": tick.at_ms,
        "tick": tick.tick,
        "interval_ms": tick.interval_ms,
        "status": tick.status,
        "reason": dumps(tick.reason),
        "took_ms": tick.took_ms,
        "groups_complete": tick.groups_complete,
        "step_ms": step_ms,
    }
    return pa.Table.from_pylist([row], schema=RAW_TICKS)
