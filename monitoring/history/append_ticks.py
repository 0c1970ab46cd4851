"""Appends the new ticks in Redis to the raw level: what changed since the tick before
(tick_changes.py).

The position of the last flush is read from the manifests and stored nowhere else. So each tick is
written exactly once, also if a flush is repeated or crashes. The object that knows the last tick
stays in memory; after a restart it is restored from the stored rows and from that tick in Redis.

A flush writes a file for each minute and table. As soon as there are ten of a table, they are
merged: else a chart of an hour would open sixty for each of its lines. When Spark has rolled up the
hour, it merges all of them.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monitoring import redis_client, redis_keys
from monitoring.history import manifest, parquet_files
from monitoring.history.levels import RAW
from monitoring.history.manifest import HistoryFile
from monitoring.history.root_folder import Root, SpanFolder
from monitoring.history.table_specs import TABLES, TICKS, VARIED_COLUMNS, schema_of
from monitoring.history.tick_changes import TickChanges
from monitoring.ticks.tick import Tick, decode

ROW_GROUP_ROWS = 16 * 1024  # a chart reads the row groups of its key alone
_TICKS_PER_READ, _TICKS_PER_FILE = 20, 120
_SMALL_FILES_MERGED = 10  # so many of a table, in an hour
_MERGED_ROWS_MAX = 500_000  # of a merged file: it is sorted in memory
_OVERLAP_MS = 60_000  # a stream entry's id is the start of its tick, `at_ms` a little later

# By cluster; used under the lock of locked_writer.py.
_changes_by_cluster: dict[str, TickChanges] = {}


def flush(root: Root, slug: str) -> int:
    """Append the ticks that are not in the history yet; returns their number.

    Raises RedisDown or OSError.
    """
    after_ms = flushed_until_ms(root, slug)
    changes = _changes_of(root, slug)
    # After a restart: the rows in the files do not have the last readings of the counters.
    if changes.lacks_readings and (last := _tick_at(slug, changes.last_at_ms)):
        changes.recall(last)
    return append(root, slug, _ticks_after(slug, after_ms))


def _ticks_after(slug: str, after_ms: int) -> Iterator[Tick]:
    """The ticks in Redis after a time, in order, read a few at a time. Raises RedisDown."""
    start = str(max(after_ms - _OVERLAP_MS, 0))
    while True:
        with redis_client.guarded() as client:
            found = client.xrange(redis_keys.ticks(slug), min=start, count=_TICKS_PER_READ)
        entries = redis_client.stream_entries(found)
        if not entries:
            return
        ticks = (decode(fields) for _, fields in entries)
        yield from (tick for tick in ticks if tick.at_ms > after_ms)
        start = f"({entries[-1][0].decode()}"


def _tick_at(slug: str, at_ms: int) -> Tick | None:
    """The tick of this time, if Redis still has it. Raises RedisDown."""
    key, first = redis_keys.ticks(slug), max(at_ms - _OVERLAP_MS, 0)
    with redis_client.guarded() as client:
        found = client.xrevrange(key, max=at_ms, min=first, count=_TICKS_PER_READ)
    ticks = (decode(fields) for _, fields in redis_client.stream_entries(found))
    return next((tick for tick in ticks if tick.at_ms == at_ms), None)


def flushed_until_ms(root: Root, slug: str) -> int:
    """The time of the newest tick in the cluster's history; −1 = none."""
    for span_folder in reversed(manifest.span_folders(root, slug, RAW)):
        newest = manifest.load(root, span_folder).max_at_ms()
        if newest >= 0:
            return newest
    return -1


def append(root: Root, slug: str, ticks: Iterable[Tick]) -> int:
    """Write `ticks` (in order) as one file per hour and table, of many ticks several, with the
    manifest; returns their number.

    Raises OSError.
    """
    changes = _changes_of(root, slug)
    written = 0
    try:
        for span, ticks_of_span in groupby(ticks, key=lambda tick: RAW.span_of(tick.at_ms)):
            span_folder = SpanFolder(slug, RAW, span)
            for tables, count in _tables(changes, ticks_of_span):
                files = [
                    write_file(root, span_folder, name, table) for name, table in tables.items()
                ]
                before = manifest.load(root, span_folder)
                names = {file.name for file in files}
                kept = [file for file in before.files if file.name not in names]
                merged = _merged(root, span_folder, kept + files, f"{before.number + 1}-")
                manifest.replace(root, span_folder, before, merged)
                written += count
    except BaseException:
        _changes_by_cluster.pop(slug, None)  # it may know ticks that are not in the manifest
        raise
    return written


def _tables(
    changes: TickChanges, ticks: Iterable[Tick]
) -> Iterator[tuple[dict[str, pa.Table], int]]:
    """The rows of the ticks by table, and the number of ticks; many ticks are several files."""
    parts: dict[str, list[pa.Table]] = {}
    count = 0
    for count, tick in enumerate(ticks, start=1):
        for name, rows in changes.changed_tables(tick).items():
            parts.setdefault(name, []).append(rows)
        if count % _TICKS_PER_FILE == 0:
            yield _joined_tables(parts), _TICKS_PER_FILE
            parts = {}
    if parts:
        yield _joined_tables(parts), count % _TICKS_PER_FILE


def _joined_tables(parts: dict[str, list[pa.Table]]) -> dict[str, pa.Table]:
    return {name: joined(name, tables) for name, tables in parts.items()}


def _merged(
    root: Root, span_folder: SpanFolder, files: Iterable[HistoryFile], mark: str
) -> list[HistoryFile]:
    """The files; of a table with many small ones, neighbours are merged.

    The names of the new files have `mark`. The replaced files stay on the disk for a while
    (delete_files_not_in_manifest.py).
    """
    small: dict[str, list[HistoryFile]] = {}
    found: list[HistoryFile] = []
    for file in files:
        is_small = file.rows < _MERGED_ROWS_MAX // 2
        (small.setdefault(file.table, []) if is_small else found).append(file)
    for table, listed in small.items():
        if len(listed) < _SMALL_FILES_MERGED:
            found += listed
            continue
        schema = schema_of(table, is_raw=True)
        for run in _runs(sorted(listed, key=lambda file: file.min_at_ms)):
            if len(run) == 1:
                found += run
                continue
            paths = [root.path(*span_folder.folder, file.name) for file in run]
            rows = [parquet_files.read_file(root, path, schema) for path in paths]
            found.append(write_file(root, span_folder, table, joined(table, rows), mark))
    return found


def _runs(files: Iterable[HistoryFile]) -> Iterator[list[HistoryFile]]:
    """The files in lists, each of which becomes one file."""
    run: list[HistoryFile] = []
    for file in files:
        if run and sum(each.rows for each in run) + file.rows > _MERGED_ROWS_MAX:
            yield run
            run = []
        run.append(file)
    if run:
        yield run


def joined(table: str, parts: Iterable[pa.Table]) -> pa.Table:
    """The rows of a table, of any level, sorted by key and then by time: readers of one key skip
    the other row groups."""
    rows = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    keys = TABLES[table].keys if table in TABLES else ()
    columns = [_ranks(rows[key].chunk(0)) for key in keys if len(rows)]
    columns.append(rows["at_ms"].to_numpy())
    return rows.take(np.lexsort(columns[::-1]))


def _ranks(column: pa.Array) -> np.ndarray:
    """Numbers that sort as the values do."""
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    order = pc.sort_indices(column.dictionary).to_numpy()
    rank_of_code = np.empty(len(order), dtype=np.int64)
    rank_of_code[order] = np.arange(len(order))
    ranks: np.ndarray = rank_of_code[column.indices.to_numpy(zero_copy_only=False)]
    return ranks


def write_file(
    root: Root,
    span_folder: SpanFolder,
    table: str,
    rows: pa.Table,
    mark: str = "",
) -> HistoryFile:
    """Write a Parquet file. The caller adds it to the manifest."""
    data = parquet(rows)
    times = rows["at_ms"].to_numpy()
    first, last = int(times.min()), int(times.max())
    name = f"{table}-{mark}{first}-{last}.parquet"
    root.write(memoryview(data), *span_folder.folder, name)
    return HistoryFile(
        name=name,
        table=table,
        rows=len(rows),
        min_at_ms=first,
        max_at_ms=last,
        bytes=data.size,
    )


def parquet(rows: pa.Table) -> pa.Buffer:
    """The content of a file with these rows."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        compression="zstd",
        row_group_size=ROW_GROUP_ROWS,
        use_dictionary=[name for name in rows.column_names if name not in VARIED_COLUMNS],
    )
    return sink.getvalue()


def _changes_of(root: Root, slug: str) -> TickChanges:
    """The `TickChanges` of the cluster; another worker may have written since it was used here."""
    newest_ms = _last_sample_ms(root, slug)
    found = _changes_by_cluster.get(slug)
    if found is None or found.last_at_ms != newest_ms:
        found = _changes_by_cluster[slug] = _restored(root, slug, newest_ms)
    return found


def _last_sample_ms(root: Root, slug: str) -> int:
    """The time of the newest tick that is no gap; −1 = none."""
    for span_folder in reversed(manifest.span_folders(root, slug, RAW)):
        for ticks in parquet_files.files_of(root, span_folder, TICKS, newest_first=True):
            times: list[int] = ticks.filter(pc.field("status") == "ok")["at_ms"].to_pylist()
            if times:
                return max(times)
    return -1


def _restored(root: Root, slug: str, last_at_ms: int) -> TickChanges:
    changes = TickChanges()
    if last_at_ms >= 0:
        span_folder = SpanFolder(slug, RAW, RAW.span_of(last_at_ms))
        stored = {name: parquet_files.files_of(root, span_folder, name) for name in TABLES}
        changes.restore(stored, last_at_ms)
    return changes
