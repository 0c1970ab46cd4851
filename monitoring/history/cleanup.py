"""Keeps the history small: merges the files of finished hours and deletes old hours.

A merged hour has one file per table, sorted by name, partition and time, so that the chart of one
topic reads few row groups. Files that no manifest lists any more are deleted after a grace time, so
that readers with an older manifest can finish.
"""

from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.history import manifest
from monitoring.history.hours import end_ms
from monitoring.history.root import Root, cluster_folder, hour_folder
from monitoring.history.writer import SCHEMAS, write_file

HISTORY_KEPT_MS = 48 * 3_600_000
_MERGE_AFTER_MS = 5 * 60_000
_MERGE_ROWS_MAX = 4_000_000  # larger hours would need too much memory
_GRACE_MS = 15 * 60_000
_ORDER = {
    "partitions": ("topic", "partition", "at_ms"),
    "groups": ("group", "topic", "partition", "at_ms"),
    "ticks": ("at_ms",),
}


def drop_old(root: Root, slug: str, now_ms: int) -> list[str]:
    """Delete the hours that ended more than 48 hours ago; returns them."""
    old = [hour for hour in manifest.hours(root, slug) if end_ms(hour) <= now_ms - HISTORY_KEPT_MS]
    for hour in old:
        root.delete_folder(cluster_folder(slug), hour_folder(hour))
    return old


def merge_one_hour(root: Root, slug: str, now_ms: int) -> str | None:
    """Merge the files of the oldest finished hour that has several; returns the hour, or None."""
    for hour in manifest.hours(root, slug):
        if end_ms(hour) > now_ms - _MERGE_AFTER_MS:
            return None
        before = manifest.load(root, slug, hour)
        if any(_is_worth_merging(before, table) for table in SCHEMAS):
            _merge(root, slug, hour, before)
            return hour
    return None


def _is_worth_merging(found: manifest.Manifest, table: str) -> bool:
    files = found.of(table)
    return len(files) > 1 and sum(file.rows for file in files) <= _MERGE_ROWS_MAX


def _merge(root: Root, slug: str, hour: str, before: manifest.Manifest) -> None:
    kept = []
    for table, schema in SCHEMAS.items():
        files = before.of(table)
        if not _is_worth_merging(before, table):
            kept += files
            continue
        paths = [root.path(cluster_folder(slug), hour_folder(hour), file.name) for file in files]
        import pyarrow.dataset as ds  # imported late: it loads pandas, 40 MB

        dataset = ds.dataset(paths, schema=schema, format="parquet", filesystem=root.filesystem)
        rows = _sorted(dataset.to_table(), _ORDER[table])
        kept.append(write_file(root, slug, hour, table, rows, mark="merged-"))
    manifest.replace(root, slug, hour, before, kept)


def _sorted(rows: pa.Table, names: tuple[str, ...]) -> pa.Table:
    """`rows` sorted by `names`. Arrow cannot sort dictionary columns; they are sorted by value."""
    keys = {name: rows[name] for name in names}
    for name, column in keys.items():
        if pa.types.is_dictionary(column.type):
            keys[name] = column.cast(column.type.value_type)
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in names])
    return rows.unify_dictionaries().take(order)


def delete_unlisted(root: Root, slug: str, now_ms: int) -> int:
    """Delete files that no manifest lists and that are older than the grace time; how many."""
    deleted = 0
    for hour in manifest.hours(root, slug):
        folder = (cluster_folder(slug), hour_folder(hour))
        named = {file.name for file in manifest.load(root, slug, hour).files}
        for entry in root.entries(*folder):
            modified = entry.mtime or datetime.now(UTC)
            age_ms = now_ms - modified.timestamp() * 1000
            unnamed = entry.base_name not in named and not manifest.numbers([entry.base_name])
            if unnamed and age_ms > _GRACE_MS:
                root.delete_file(*folder, entry.base_name)
                deleted += 1
    return deleted
