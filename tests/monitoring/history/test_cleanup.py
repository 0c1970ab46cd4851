import os
from pathlib import Path

import pyarrow.parquet as pq

from monitoring.history import cleanup, manifest, reader, writer
from monitoring.history.hours import HOUR_MS, end_ms, hour_of
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000
HOUR = hour_of(FIRST * INTERVAL_MS)
ALWAYS = (0, 10**14)


def write_ticks(root, count=4):
    for n in range(count):
        rows = [{"topic": t, "partition": p} for t in "zab" for p in (1, 0)]
        writer.append(root, "local", [make_tick(FIRST + n, partitions=rows)])


def rows():
    read = reader.read("local", "partitions", *ALWAYS, ["topic", "partition", "tick"])
    return sorted(map(tuple, (row.values() for row in read.to_pylist())))


def test_a_finished_hour_becomes_one_sorted_file_with_the_same_rows(root):
    write_ticks(root)
    before = rows()
    assert cleanup.merge_one_hour(root, "local", end_ms(HOUR) + HOUR_MS) == HOUR
    assert rows() == before
    [path] = reader.files("local", "partitions", *ALWAYS)
    table = pq.read_table(path, columns=["topic", "partition", "at_ms"])
    keys = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert keys == sorted(keys)
    assert cleanup.merge_one_hour(root, "local", end_ms(HOUR) + HOUR_MS) is None


def test_an_hour_that_is_not_over_is_not_merged(root):
    write_ticks(root)
    assert cleanup.merge_one_hour(root, "local", end_ms(HOUR)) is None


def test_replaced_files_are_deleted_after_the_grace_time(root):
    write_ticks(root)
    old = reader.files("local", "partitions", *ALWAYS)
    now_ms = end_ms(HOUR) + HOUR_MS
    for path in old:
        os.utime(path, (now_ms / 1000, now_ms / 1000))
    cleanup.merge_one_hour(root, "local", now_ms)
    cleanup.delete_unlisted(root, "local", now_ms + 60_000)
    assert all(Path(path).exists() for path in old)
    cleanup.delete_unlisted(root, "local", now_ms + 20 * 60_000)
    assert not any(Path(path).exists() for path in old)
    assert len(rows()) == 4 * 6


def test_hours_are_dropped_after_two_days(root):
    write_ticks(root)
    assert cleanup.drop_old(root, "local", end_ms(HOUR) + cleanup.HISTORY_KEPT_MS - 1) == []
    assert cleanup.drop_old(root, "local", end_ms(HOUR) + cleanup.HISTORY_KEPT_MS) == [HOUR]
    assert manifest.hours(root, "local") == []
