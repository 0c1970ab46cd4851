"""Reads what a level of the history has of a time range: its files, and rows of its tables.

Only files that a manifest lists are read. Times are wall-clock milliseconds; ranges include
`from_ms` and exclude `to_ms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from monitoring.history import level_choice, manifest, parquet_rows_by_key
from monitoring.history.byte_limited_cache import ByteLimitedCache
from monitoring.history.level_choice import LevelRange, TimesOf
from monitoring.history.levels import RAW, Level
from monitoring.history.manifest import HistoryFile
from monitoring.history.parquet_files import read_file
from monitoring.history.root_folder import Root, SpanFolder
from monitoring.history.table_specs import TICKS, Table, schema_of

_ticks_of_files: ByteLimitedCache[pa.Table] = ByteLimitedCache(16 << 20)


def files(
    root: Root, slug: str, level: Level, table: str, from_ms: int, to_ms: int
) -> list[tuple[SpanFolder, HistoryFile]]:
    """The files of a table that overlap the range, with their folders, oldest span first.

    They can contain rows outside the range.
    """
    return list(_files(root, slug, level, table, from_ms, to_ms))


def locations(
    root: Root, slug: str, level: Level, table: str, from_ms: int, to_ms: int
) -> list[str]:
    """The locations of `files` for Spark: paths if the history is local, else URLs."""
    return [
        root.location(*span_folder.folder, file.name)
        for span_folder, file in _files(root, slug, level, table, from_ms, to_ms)
    ]


def ticks(root: Root, slug: str, level: Level, from_ms: int, to_ms: int) -> pa.Table:
    """The rows of the level's ticks table in the range, in the order of time."""
    schema = schema_of(TICKS, is_raw=level is RAW)
    tables = [
        _ticks_of_file(root, root.path(*span_folder.folder, file.name), schema)
        for span_folder, file in _files(root, slug, level, TICKS, from_ms, to_ms)
    ]
    rows = pa.concat_tables([schema.empty_table(), *tables])
    return _in_order(rows, from_ms, to_ms)


def _in_order(rows: pa.Table, from_ms: int, to_ms: int) -> pa.Table:
    """The rows in the range, in the order of time."""
    times = rows["at_ms"].to_numpy()
    order = np.argsort(times, kind="stable")
    first, end = np.searchsorted(times[order], (from_ms, to_ms))
    return rows.combine_chunks().take(order[first:end])


def _ticks_of_file(root: Root, path: str, schema: pa.Schema) -> pa.Table:
    def make() -> tuple[pa.Table, int]:
        rows = read_file(root, path, schema)
        return rows, rows.nbytes

    return _ticks_of_files.get(root.stamp(path), make)


def parts(root: Root, slug: str, from_ms: int, to_ms: int, coarsest: Level) -> list[LevelRange]:
    """Which level is read for which part of the range (level_choice.py)."""
    return level_choice.choose_levels(from_ms, to_ms, _times_in(root, slug), coarsest)


def parts_or_coarser(
    root: Root, slug: str, from_ms: int, to_ms: int, coarsest: Level
) -> list[LevelRange]:
    """As `parts`, with levels coarser than `coarsest` for times that the others do not have."""
    times_of = _times_in(root, slug)
    found = level_choice.choose_levels(from_ms, to_ms, times_of, coarsest)
    return level_choice.add_coarser(found, from_ms, to_ms, times_of, coarsest)


def _times_in(root: Root, slug: str) -> TimesOf:
    def times_of(level: Level, start_ms: int, end_ms: int) -> np.ndarray:
        times: np.ndarray = ticks(root, slug, level, start_ms, end_ms)["at_ms"].to_numpy()
        return times

    return times_of


def _files(
    root: Root, slug: str, level: Level, table: str, from_ms: int, to_ms: int
) -> Iterator[tuple[SpanFolder, HistoryFile]]:
    for span_folder in manifest.span_folders(root, slug, level):
        if span_folder.end_ms <= from_ms or span_folder.start_ms >= to_ms:
            continue
        for file in manifest.load(root, span_folder).of(table):
            if file.max_at_ms >= from_ms and file.min_at_ms < to_ms:
                yield span_folder, file


def rows(
    root: Root,
    slug: str,
    level: Level,
    table: Table,
    from_ms: int,
    to_ms: int,
    columns: Sequence[str],
    key: Mapping[str, str | int],
) -> pa.Table:
    """The rows of one key, or of all that begin with these key columns, in the order of time.

    Names are plain texts. Only the row groups that can have the key are read
    (parquet_rows_by_key.py).
    """
    schema = pa.schema([
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type)
        for field in schema_of(table.name, is_raw=level is RAW)
    ])  # fmt: skip
    wanted = list(dict.fromkeys(["at_ms", *columns]))
    read = [pa.schema([schema.field(name) for name in wanted]).empty_table()]
    for span_folder, file in _files(root, slug, level, table.name, from_ms, to_ms):
        path = root.path(*span_folder.folder, file.name)
        read.append(parquet_rows_by_key.read(root, path, schema, key, wanted))
    return _in_order(pa.concat_tables(read), from_ms, to_ms).select(columns)
