import pyarrow as pa

from monitoring.history import append_ticks, manifest
from monitoring.history.levels import HOUR, HOUR_MS, MINUTE
from monitoring.history.root_folder import SpanFolder
from monitoring.history.table_specs import LEVEL_TICKS, TICKS
from monitoring.pipeline.tick_counts import read_tick_counts
from tests.monitoring.pipeline.made_history import START_MS


def write_ticks(root, level, counts):
    """The ticks of a level: samples by bucket. The file has the same name each time."""
    rows = [{"at_ms": at_ms, "samples": count, "gaps": 1, "rated_ms": 0, "reason": ""}
            for at_ms, count in counts.items()]  # fmt: skip
    span_folder = SpanFolder("local", level, level.span_of(START_MS))
    table = pa.Table.from_pylist(rows, LEVEL_TICKS)
    file = append_ticks.write_file(root, span_folder, TICKS, table, "written-")
    manifest.replace(root, span_folder, manifest.load(root, span_folder), [file])


def read(root):
    return read_tick_counts(root, manifest.files_of_cluster(root, "local"))


def test_the_ticks_of_a_level_are_counted_by_hour(root):
    write_ticks(root, MINUTE, {START_MS: 3, START_MS + HOUR_MS - 1: 4, START_MS + HOUR_MS: 9})
    write_ticks(root, HOUR, {START_MS: 7})
    found = read(root)
    assert found.minutes == {START_MS: 9, START_MS + HOUR_MS: 10}
    assert found.hours == {START_MS: 8}
    assert found.days == {}


def test_a_file_that_is_written_again_under_its_name_is_counted_again(root):
    write_ticks(root, MINUTE, {START_MS: 3})
    assert read(root).minutes == {START_MS: 4}
    write_ticks(root, MINUTE, {START_MS: 5})
    assert read(root).minutes == {START_MS: 6}
