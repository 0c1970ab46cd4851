"""The samples of a synthetic hour: the topics, groups and brokers of one sample, with traffic
that is lowest at the full hour and highest at half past. Internal topics are idle. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history.levels import HOUR_MS
from monitoring.history.tick_changes import TickChanges
from monitoring.ticks.tick import Tick
from monitoring.written_history.pattern import Hour

_RATE_MAX = 100  # records per second of a partition
_SWING = 0.8  # how much the rate differs from its mean
_FIRST_OFFSET = 10**9
_BYTES_IN, _BYTES_OUT = 100, 250  # of a record
_BEHIND_S = 5  # how far a group is behind


def hour(sample: Tick, start_ms: int, interval_ms: int) -> Hour:
    """The raw rows of the hour that starts at `start_ms`, as a part of a pattern."""
    changes = TickChanges()
    parts: dict[str, list[pa.Table]] = {}
    for tick in _ticks(sample, start_ms, interval_ms):
        tables = changes.changed_tables(tick)
        if tick.at_ms >= start_ms:
            for name, rows in tables.items():
                parts.setdefault(name, []).append(rows)
    tables = {name: pa.concat_tables(each).unify_dictionaries() for name, each in parts.items()}
    return Hour(start_ms, tables)


def rows_a_day(sample: Tick, interval_ms: int) -> int:
    """About how many raw rows a day of such hours has."""
    keys = 2 * np.count_nonzero(_rates(sample.partitions)) + 2 * len(sample.groups)
    return int(keys) * (24 * HOUR_MS // interval_ms)


def _ticks(sample: Tick, start_ms: int, interval_ms: int) -> Iterator[Tick]:
    """The ticks of an hour, and the one before it."""
    rates = _rates(sample.partitions)
    partition_rows = _partition_rows(sample)
    for at_ms in range(start_ms - interval_ms, start_ms + HOUR_MS, interval_ms):
        seconds, traffic = _traffic((at_ms - start_ms) / HOUR_MS)
        ends = _FIRST_OFFSET + (rates * seconds).astype(np.int64)
        behind = (rates * traffic * _BEHIND_S).astype(np.int64)
        yield replace(
            sample,
            tick=at_ms // interval_ms,
            at_ms=at_ms,
            interval_ms=interval_ms,
            reason="",
            groups_complete=True,
            brokers=[_broker(broker, seconds, int(rates.sum())) for broker in sample.brokers],
            partitions=_partitions(sample.partitions, ends),
            groups=_groups(sample.groups, ends, behind, partition_rows),
        )


def _traffic(share_of_hour: float) -> tuple[float, float]:
    """The seconds of mean traffic since the start of an hour, and the traffic now (mean = 1)."""
    turn = 2 * math.pi * share_of_hour
    seconds = HOUR_MS / 1000 * (share_of_hour - _SWING * math.sin(turn) / (2 * math.pi))
    return seconds, 1 - _SWING * math.cos(turn)


def _rates(partitions: pa.Table) -> np.ndarray:
    """Records per second of each partition, by its name."""
    names = zip(partitions["topic"].to_pylist(), partitions["partition"].to_pylist(), strict=True)
    rates = [
        0 if t.startswith("__") else 1 + crc32(f"{t}:{p}".encode()) % _RATE_MAX for t, p in names
    ]
    return np.array(rates, dtype=np.float64)


def _partition_rows(sample: Tick) -> np.ndarray:
    """For each row of the groups that of its partition; −1 = there is none."""
    columns = (sample.partitions[name].to_pylist() for name in ("topic", "partition"))
    rows = {key: row for row, key in enumerate(zip(*columns, strict=True))}
    columns = (sample.groups[name].to_pylist() for name in ("topic", "partition"))
    return np.array([rows.get(key, -1) for key in zip(*columns, strict=True)], dtype=np.int64)


def _partitions(rows: pa.Table, ends: np.ndarray) -> pa.Table:
    figures = {
        "log_end_offset": ends,
        "bytes_in": ends * _BYTES_IN,
        "bytes_out": ends * _BYTES_OUT,
        "messages_in": ends,
    }
    return _replaced(rows, figures, np.zeros(len(rows), dtype=bool))


def _groups(
    rows: pa.Table, ends: np.ndarray, behind: np.ndarray, partition_rows: np.ndarray
) -> pa.Table:
    if not len(rows):
        return rows
    is_read = (partition_rows >= 0) & pc.is_valid(rows["committed_offset"]).to_numpy()
    end, lag = ends[partition_rows], behind[partition_rows]
    figures = {"committed_offset": end - lag, "log_end_offset": end}
    answered = pa.nulls(len(rows), pa.int64())  # all coordinators answer
    index = rows.schema.get_field_index("reported_at_ms")
    return _replaced(rows, figures, ~is_read).set_column(index, "reported_at_ms", answered)


def _replaced(rows: pa.Table, figures: dict[str, np.ndarray], is_null: np.ndarray) -> pa.Table:
    for name, values in figures.items():
        column = pa.array(values, pa.int64(), mask=is_null)
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
    return rows


def _broker(broker: dict[str, Any], seconds: float, rate: int) -> dict[str, Any]:
    """Counters that the sample has grow with the traffic; all else is as in the sample."""
    records = int((seconds + HOUR_MS / 1000) * rate)
    figures = {
        "bytes_in": records * _BYTES_IN,
        "bytes_out": records * _BYTES_OUT,
        "messages_in": records,
        "requests": records // 10,
        "cpu_seconds": round((seconds + HOUR_MS / 1000) * 0.1, 3),
    }
    known = {name: value for name, value in figures.items() if broker.get(name) is not None}
    return broker | {"up": True} | known
