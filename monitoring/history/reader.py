"""Reads the history for charts and reports: the files of a time range, or their rows.

Only files that a manifest lists are read. Times are wall-clock milliseconds; ranges include
`from_ms` and exclude `to_ms`.
"""

import threading
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from monitoring import memory
from monitoring.history import manifest
from monitoring.history.hours import end_ms, start_ms
from monitoring.history.root import Root, cluster_folder, current, hour_folder
from monitoring.history.writer import SCHEMAS

# Of all threads: a read uses all cores, and of a large cluster 200 MB until it is done.
_READS_AT_ONCE = 2
_turns = threading.BoundedSemaphore(_READS_AT_ONCE)


def files(slug: str, table: str, from_ms: int, to_ms: int) -> list[str]:
    """The locations of the Parquet files of `table` in the range, oldest first.

    Paths if the history is a local folder, else URLs. The files can contain rows outside the range.
    """
    root = current()
    return [root.location(*parts) for parts in _parts(root, slug, table, from_ms, to_ms)]


def read(
    slug: str,
    table: str,
    from_ms: int,
    to_ms: int,
    columns: Sequence[str],
    topic: str | None = None,
    group: str | None = None,
) -> pa.Table:
    """`columns` of all rows in the range, optionally of one topic or group; unsorted.

    Names are dictionary-encoded. Without rows the table is empty and has the same columns.
    """
    root = current()
    schema = SCHEMAS[table]
    paths = [root.path(*parts) for parts in _parts(root, slug, table, from_ms, to_ms)]
    if not paths:
        return schema.empty_table().select(list(columns))
    wanted = (pc.field("at_ms") >= from_ms) & (pc.field("at_ms") < to_ms)
    if topic is not None:
        wanted &= pc.field("topic") == topic
    if group is not None:
        wanted &= pc.field("group") == group
    import pyarrow.dataset as ds  # imported late: it loads pandas, 40 MB

    dataset = ds.dataset(paths, schema=schema, format="parquet", filesystem=root.filesystem)
    with _turns:
        found = dataset.to_table(columns=list(columns), filter=wanted)
    memory.trim()
    return found


def _parts(
    root: Root, slug: str, table: str, from_ms: int, to_ms: int
) -> list[tuple[str, str, str]]:
    """(cluster folder, hour folder, file name) of each file that overlaps the range."""
    found = []
    for hour in manifest.hours(root, slug):
        if end_ms(hour) <= from_ms or start_ms(hour) >= to_ms:
            continue
        for file in manifest.load(root, slug, hour).of(table):
            if file.max_at_ms >= from_ms and file.min_at_ms < to_ms:
                found.append((cluster_folder(slug), hour_folder(hour), file.name))
    return found
