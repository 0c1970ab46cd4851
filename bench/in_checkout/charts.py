"""Run in a checkout: how long a chart's data takes, with a history of 90 days that it writes first.

    python bench/in_checkout/charts.py FOLDER REDIS_URL TOPICS ROUNDS    → JSON, times in ms by row

The files of the levels are sorted by key, as the pipeline leaves them: MINUTE_DAYS of minutes (a
file a day, today a file an hour), HOUR_DAYS of hours (a file a month, this month a file a day). One
partition in BUSY_EVERY changes in every bucket. The newest 15 minutes are raw files of a minute
each, and the newest two minutes are in Redis.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings
from feed import TICKS_A_FILE, TOOK_MS, _table
from names import find
from synthetic import SLUG, Synthetic

if TYPE_CHECKING:
    from monitoring.history.levels import Level
    from monitoring.history.root_folder import Root
    from monitoring.history.series import Subject
    from monitoring.history.table_specs import Table
    from monitoring.ticks.tick import Tick

Keys = dict[str, np.ndarray]

INTERVAL_MS = 5000
MINUTE_DAYS, HOUR_DAYS = 7, 90
RAW_MINUTES = 15
BUSY_EVERY = 20  # one partition in so many changes in every bucket, the others only repeat
KEYS_AT_ONCE = 5000
POINTS = 2000  # of the widest chart
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
RANGES_MS = {
    "15 minutes": 15 * 60_000, "24 hours": DAY_MS, "7 days": 7 * DAY_MS, "90 days": 90 * DAY_MS,
}  # fmt: skip


def write_level(
    root: Root, level: Level, table: Table, keys: Keys, from_ms: int, to_ms: int
) -> None:
    """One table: a file for each span that is over, several for the newest one."""
    from monitoring.history import manifest
    from monitoring.history.manifest import HistoryFile

    first = from_ms
    while first < to_ms:
        span = level.span_of(first)
        span_folder = find("SpanFolder")(SLUG, level, span)
        last = min(_end_of_file(level, span_folder.end_ms, first, to_ms), to_ms)
        name = f"{table.name}-{first}.parquet"
        path = Path(root.path(*span_folder.folder, name))
        path.parent.mkdir(parents=True, exist_ok=True)
        times = np.arange(first, last, level.bucket_ms)
        rows = _write_keys(path, level, table, keys, times)
        before = manifest.load(root, span_folder)
        file = HistoryFile(
            name=name, table=table.name, rows=rows, min_at_ms=first,
            max_at_ms=last - level.bucket_ms, bytes=path.stat().st_size,
        )  # fmt: skip
        manifest.replace(root, span_folder, before, [*before.files, file])
        first = last


def _end_of_file(level: Level, span_end_ms: int, first_ms: int, to_ms: int) -> int:
    """Behind the last bucket of the file that begins at `first_ms`."""
    if span_end_ms <= to_ms:
        return span_end_ms
    unit_ms = HOUR_MS if level.name == "minute" else DAY_MS
    return first_ms - first_ms % unit_ms + unit_ms


def _write_keys(path: Path, level: Level, table: Table, keys: Keys, times: np.ndarray) -> int:
    """Sorted by key and time, as the roll-up writes."""
    complete = times[times % level.all_keys_every_ms == 0]
    count = len(next(iter(keys.values()))) if keys else 1
    rows = 0
    with pq.ParquetWriter(path, _plain(table.level_schema), compression="zstd") as writer:
        for first in range(0, count, KEYS_AT_ONCE):
            own = np.arange(first, min(first + KEYS_AT_ONCE, count))
            of_key = [times if key % BUSY_EVERY == 0 else complete for key in own]
            key = np.repeat(own, [len(found) for found in of_key])
            at_ms = np.concatenate(of_key)
            written = _rows(level, table, keys, key, at_ms)
            writer.write_table(written, row_group_size=32 * 1024)
            rows += len(written)
    return rows


def _plain(schema: pa.Schema) -> pa.Schema:
    """As Spark writes: names as texts."""
    return pa.schema([
        (f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema
    ])  # fmt: skip


def _rows(level: Level, table: Table, keys: Keys, key: np.ndarray, at_ms: np.ndarray) -> pa.Table:
    state = 1 + sum(table.counter_bit(counter) for counter in table.counters)
    amount = (key * 7 + at_ms // level.bucket_ms) % 1000
    found = {"at_ms": at_ms, "repeated": key % BUSY_EVERY != 0}
    found |= {"state_before": np.full(len(key), state), "state": np.full(len(key), state)}
    found |= {"samples": np.full(len(key), level.bucket_ms // INTERVAL_MS)}
    for name, values in keys.items():
        found[name] = pa.array(values).take(pa.array(key))
    for gauge in table.gauges:
        for kind in ("before", "last", "low", "high"):
            found[f"{gauge}_{kind}"] = amount
        found[f"{gauge}_sum"] = amount * (level.bucket_ms // INTERVAL_MS)
        found[f"{gauge}_samples"] = np.full(len(key), level.bucket_ms // INTERVAL_MS)
    for counter in table.counters:
        found |= {counter: amount, f"{counter}_rated": amount}
        found[f"{counter}_rated_ms"] = np.full(len(key), level.bucket_ms)
        found |= {f"{counter}_low": amount / 60, f"{counter}_high": amount / 20}
    schema = _plain(table.level_schema)
    return pa.table(
        [
            pa.array(found[f.name]).cast(f.type) if f.name in found else pa.nulls(len(key), f.type)
            for f in schema
        ],
        schema=schema,
    )


def write_ticks(root: Root, level: Level, from_ms: int, to_ms: int) -> None:
    """The buckets of a level: none has a gap."""
    from monitoring.history import manifest
    from monitoring.history.table_specs import LEVEL_TICKS, TICKS

    first = from_ms
    while first < to_ms:
        span_folder = find("SpanFolder")(SLUG, level, level.span_of(first))
        last = min(_end_of_file(level, span_folder.end_ms, first, to_ms), to_ms)
        rows = [
            {"at_ms": at_ms, "samples": level.bucket_ms // INTERVAL_MS, "gaps": 0,
             "rated_ms": level.bucket_ms, "reason": ""}
            for at_ms in range(first, last, level.bucket_ms)
        ]  # fmt: skip
        file = find("write_history_file")(
            root, span_folder, TICKS, pa.Table.from_pylist(rows, schema=LEVEL_TICKS)
        )
        before = manifest.load(root, span_folder)
        manifest.replace(root, span_folder, before, [*before.files, file])
        first = last


def tick(cluster: Synthetic, number: int) -> Tick:
    from monitoring.ticks import schema
    from monitoring.ticks.tick import Tick

    common = {"cluster": SLUG, "tick": number, "at_ms": number * INTERVAL_MS + TOOK_MS}
    return Tick(
        **common,
        interval_ms=INTERVAL_MS,
        brokers=cluster.brokers(number),
        partitions=_table(schema.PARTITIONS, common, cluster.partitions(number)),
        groups=_table(schema.GROUPS, common, cluster.group_rows(number)),
    )


def _sorted(keys: Keys) -> Keys:
    """By the first key column, then by the next ones, as the roll-up sorts."""
    if not keys:
        return keys
    order = np.lexsort([*keys.values()][::-1])
    return {name: values[order] for name, values in keys.items()}


def write_all(root: Root, cluster: Synthetic, hour_ms: int) -> int:
    """Levels up to `hour_ms`, raw files behind it, then ticks in Redis; the time of the end."""
    from monitoring.history import table_specs
    from monitoring.history.levels import HOUR, MINUTE
    from monitoring.ticks.tick_stream import put_tick

    partitions, rows = cluster.partitions(1), cluster.group_rows(1)
    of_partition = {
        "topic": np.array(cluster.topics)[partitions["topic"][1]],
        "partition": partitions["partition"],
    }
    of_group = {"group": np.array(cluster.groups)[rows["group"][1]],
                "topic": np.array(cluster.topics)[rows["topic"][1]],
                "partition": rows["partition"]}  # fmt: skip
    of_table = (
        (table_specs.CLUSTER, {}),
        (table_specs.TOPICS, {"topic": np.array(cluster.topics)}),
        (table_specs.GROUPS, {"group": np.array(cluster.groups)}),
        (table_specs.PARTITIONS, of_partition),
        (table_specs.GROUP_PARTITIONS, of_group),
    )
    for level, days in ((MINUTE, MINUTE_DAYS), (HOUR, HOUR_DAYS)):
        from_ms = hour_ms - days * DAY_MS
        write_ticks(root, level, from_ms, hour_ms)
        for table, keys in of_table:
            write_level(root, level, table, _sorted(keys), from_ms, hour_ms)
    first = hour_ms // INTERVAL_MS
    end = first + RAW_MINUTES * 60_000 // INTERVAL_MS
    for start in range(first, end, TICKS_A_FILE):
        made = [tick(cluster, number) for number in range(start, start + TICKS_A_FILE)]
        find("append_history")(root, SLUG, made)
    for number in range(end - TICKS_A_FILE, end + TICKS_A_FILE):
        put_tick(tick(cluster, number))
    return (end + TICKS_A_FILE) * INTERVAL_MS


def measure(cluster: Synthetic, now_ms: int, rounds: int) -> dict[str, list[float]]:
    """The time of each query in ms, by its row: another key each time, as other people's charts."""
    from monitoring.history import series
    from monitoring.history.series import Range, Subject

    def whole(_n: int) -> Subject:
        return Subject.cluster()

    def topic(n: int) -> Subject:
        return Subject.topic(cluster.topics[(20 * n) % len(cluster.topics)])

    def partition(n: int) -> Subject:
        return Subject.topic(cluster.topics[(37 * n) % len(cluster.topics)], 0)

    def group(n: int) -> Subject:
        return Subject.group(cluster.groups[(20 * n) % len(cluster.groups)])

    subjects = {
        "cluster": (whole, ["records", "consumed"]),
        "topic": (topic, ["records"]),
        "partition": (partition, ["records"]),
        "group": (group, ["lag"]),
    }
    found = {}
    for name, range_ms in RANGES_MS.items():
        over = Range.until(now_ms, range_ms, POINTS)
        for kind, (subject, measures) in subjects.items():
            times = []
            for number in range(rounds + 1):
                begin = time.perf_counter()
                read = series.read(SLUG, subject(number), measures, over)
                times.append((time.perf_counter() - begin) * 1000)
                points = read.measures[measures[0]]
                if np.isnan(points.mean[5:-2]).any():
                    raise RuntimeError(f"{kind} over {name} has unknown points")
            found[f"{kind}, {name}"] = times[1:]  # the first loads modules
    return found


def main() -> None:
    """See the module."""
    folder, redis_url, topics, rounds = sys.argv[1:]
    settings.configure(
        HISTORY_URL=f"file://{folder}", AERIE_TICK_SECONDS=INTERVAL_MS // 1000,
        REDIS_URL=redis_url, AERIE_LIVE_BYTES_MAX=1 << 30,
    )  # fmt: skip
    from monitoring.history.root_folder import current

    cluster = Synthetic(int(topics))
    hour_ms = int(time.time()) // 3600 * 3_600_000
    now_ms = write_all(current(), cluster, hour_ms)
    print(json.dumps(measure(cluster, now_ms, int(rounds))))


if __name__ == "__main__":
    main()
