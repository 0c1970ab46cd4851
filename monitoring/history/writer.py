"""Appends the new ticks in Redis to the Parquet files of their hours.

The position of the last flush is read from the manifests and stored nowhere else. So each tick is
written exactly once, also if a flush is repeated or crashes.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monitoring import redis_client, redis_keys
from monitoring.history import manifest
from monitoring.history.hours import hour_of
from monitoring.history.manifest import HistoryFile
from monitoring.history.root import Root, cluster_folder, hour_folder
from monitoring.reasons import dumps
from monitoring.ticks.schema import GROUPS, PARTITIONS
from monitoring.ticks.tick import Tick, decode

TICKS = pa.schema(
    [
        ("cluster", pa.dictionary(pa.int32(), pa.string())),
        ("tick", pa.int64()),
        ("at_ms", pa.int64()),
        ("interval_ms", pa.int64()),
        ("status", pa.string()),  # ok or gap
        ("reason", pa.string()),
        ("took_ms", pa.int64()),
        ("groups_complete", pa.bool_()),
    ]
)
SCHEMAS = {"partitions": PARTITIONS, "groups": GROUPS, "ticks": TICKS}
ROW_GROUP_ROWS = 128 * 1024
_TICKS_AT_ONCE, _ROWS_AT_ONCE = 20, 1_000_000
_OVERLAP_MS = 60_000  # a stream entry's id is the start of its tick, `at_ms` a little later


def flush(root: Root, slug: str) -> int:
    """Append the ticks that are not in the history yet; how many. Raises StoreDown or OSError."""
    after_ms, flushed = flushed_until_ms(root, slug), 0
    start = str(max(after_ms - _OVERLAP_MS, 0))
    while True:
        with redis_client.guarded() as client:
            found = client.xrange(redis_keys.ticks(slug), min=start, count=_TICKS_AT_ONCE)
        entries = redis_client.stream_entries(found)
        if not entries:
            return flushed
        ticks = (decode(fields) for _, fields in entries)
        for new in _portions(tick for tick in ticks if tick.at_ms > after_ms):
            append(root, slug, new)
            flushed += len(new)
        start = f"({entries[-1][0].decode()}"


def _portions(ticks: Iterable[Tick]) -> Iterator[list[Tick]]:
    """The ticks in lists whose rows are written at once; of a large cluster they are short."""
    portion: list[Tick] = []
    rows = 0
    for tick in ticks:
        portion.append(tick)
        rows += len(tick.partitions) + len(tick.groups)
        if rows >= _ROWS_AT_ONCE:
            yield portion
            portion, rows = [], 0
    if portion:
        yield portion


def flushed_until_ms(root: Root, slug: str) -> int:
    """The time of the newest sample in the cluster's history; −1 = none."""
    for hour in reversed(manifest.hours(root, slug)):
        newest = manifest.load(root, slug, hour).max_at_ms()
        if newest >= 0:
            return newest
    return -1


def append(root: Root, slug: str, ticks: Iterable[Tick]) -> None:
    """Write `ticks` (in order) as one file per hour and table, and add them to the manifest."""
    for hour, of_hour in groupby(ticks, key=lambda tick: hour_of(tick.at_ms)):
        tables = _tables(list(of_hour))
        files = [
            write_file(root, slug, hour, name, table)
            for name, table in tables.items()
            if table.num_rows
        ]
        before = manifest.load(root, slug, hour)
        names = {file.name for file in files}
        kept = [file for file in before.files if file.name not in names]
        manifest.replace(root, slug, hour, before, kept + files)


def write_file(
    root: Root, slug: str, hour: str, table_name: str, table: pa.Table, mark: str = ""
) -> HistoryFile:
    """Write a Parquet file. The caller adds it to the manifest."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=ROW_GROUP_ROWS)
    data = sink.getvalue()
    ticks, times = table["tick"].to_numpy(), table["at_ms"].to_numpy()
    first, last = int(ticks.min()), int(ticks.max())
    name = f"{table_name}-{mark}{first}-{last}.parquet"
    root.write(memoryview(data), cluster_folder(slug), hour_folder(hour), name)
    return HistoryFile(
        name=name,
        table=table_name,
        rows=table.num_rows,
        min_tick=first,
        max_tick=last,
        min_at_ms=int(times.min()),
        max_at_ms=int(times.max()),
        bytes=data.size,
    )


def _tables(ticks: list[Tick]) -> dict[str, pa.Table]:
    rows = [
        {name: getattr(tick, name) for name in TICKS.names} | {"reason": dumps(tick.reason)}
        for tick in ticks
    ]
    return {
        "partitions": pa.concat_tables([tick.partitions for tick in ticks]).unify_dictionaries(),
        "groups": pa.concat_tables(
            [_without_carried_rows(tick.groups) for tick in ticks]
        ).unify_dictionaries(),
        "ticks": pa.Table.from_pylist(rows, schema=TICKS),
    }


def _without_carried_rows(groups: pa.Table) -> pa.Table:
    """Removes rows of groups whose coordinator did not answer, which repeat an earlier tick."""
    return groups.filter(pc.is_null(groups["told_at_ms"]))
