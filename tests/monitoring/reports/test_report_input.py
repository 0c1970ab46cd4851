"""A report has the same figures from whatever level it is read.

The time of a peak is the start of the bucket that has it, so it is as exact as the level.
"""

import pyarrow as pa
import pytest

from monitoring.history import manifest
from monitoring.history.level_choice import LevelRange
from monitoring.history.levels import DAY, DAY_MS, HOUR, LEVELS, MINUTE, RAW, Level
from monitoring.history.points import level_for
from monitoring.history.root_folder import SpanFolder, cluster_folder, level_folder
from monitoring.reports import report_input
from monitoring.spark.jobs.throughput_and_lag import Outcome, Request, run
from monitoring.spark.transforms.report_bucket_length import bucket_ms_for, longest_range_ms_below
from tests.monitoring.pipeline.made_history import START_MS

pytestmark = pytest.mark.spark
TO_MS = START_MS + DAY_MS


def computed(spark, level, monkeypatch) -> Outcome:
    monkeypatch.setattr(report_input, "level_for", lambda _bucket_ms: level)
    found = report_input.report_parts("local", START_MS, TO_MS)
    assert [part.is_raw for part in found] == [level is RAW]
    return run(spark, Request(START_MS, TO_MS, found), lambda _stage: None)


def rows(table: pa.Table) -> list[dict]:
    names = [name for name in table.column_names if not name.endswith("_at_ms")]
    return sorted(table.select(names).to_pylist(), key=lambda row: str(row[names[0]]))


def figures(outcome: Outcome) -> dict:
    return {name: of for name, of in outcome.figures.items() if not name.endswith("_at_ms")}


@pytest.mark.usefixtures("rolled_root")
def test_a_report_has_the_same_figures_from_each_level(spark, monkeypatch):
    by_level = {level: computed(spark, level, monkeypatch) for level in LEVELS}
    for level in (MINUTE, HOUR, DAY):
        for name in ("topics", "groups"):
            expected = rows(by_level[RAW].tables[name])
            assert len(expected) > 0
            assert rows(by_level[level].tables[name]) == [pytest.approx(row) for row in expected]
        assert figures(by_level[level]) == pytest.approx(figures(by_level[RAW]))


@pytest.mark.usefixtures("rolled_root")
def test_a_report_that_begins_inside_an_hour_has_the_same_figures_from_minutes(spark, monkeypatch):
    from_ms, to_ms = START_MS + 90 * MINUTE.bucket_ms, START_MS + 180 * MINUTE.bucket_ms
    found = []
    for level in (RAW, MINUTE):
        monkeypatch.setattr(report_input, "level_for", lambda _bucket_ms, level=level: level)
        parts = report_input.report_parts("local", from_ms, to_ms)
        found.append(run(spark, Request(from_ms, to_ms, parts), lambda _stage: None))
    for name in ("topics", "groups"):
        expected = rows(found[0].tables[name])
        assert len(expected) > 0
        assert rows(found[1].tables[name]) == [pytest.approx(row) for row in expected]


def delete(root, *levels) -> None:
    for level in levels:
        root.delete_folder(cluster_folder("local"), level_folder(level))


def only_levels(from_ms: int, to_ms: int) -> list[Level]:
    return [part.level for part in report_input.left_out("local", from_ms, to_ms)]


def test_a_short_time_of_which_only_a_coarse_level_is_left_has_that_level(rolled_root):
    short = START_MS + 5 * MINUTE.bucket_ms, START_MS + 20 * MINUTE.bucket_ms
    assert only_levels(*short) == []
    delete(rolled_root, RAW, MINUTE)
    assert report_input.report_parts("local", *short) == []
    assert only_levels(*short) == [HOUR]
    delete(rolled_root, HOUR)
    assert only_levels(*short) == [DAY]
    delete(rolled_root, DAY)
    assert only_levels(*short) == []


def test_a_short_time_in_which_nothing_was_sampled_has_no_such_level(rolled_root):
    later = START_MS + 5 * HOUR.bucket_ms
    assert only_levels(later, later + HOUR.bucket_ms) == []
    delete(rolled_root, RAW, MINUTE)
    assert only_levels(later, later + HOUR.bucket_ms) == []


def test_the_hours_without_minutes_are_left_out_of_a_time_that_has_minutes_otherwise(rolled_root):
    from_ms, later_ms = START_MS + 30 * MINUTE.bucket_ms, START_MS + HOUR.bucket_ms
    to_ms = START_MS + 3 * HOUR.bucket_ms
    folder = SpanFolder("local", MINUTE, MINUTE.span_of(START_MS))
    before = manifest.load(rolled_root, folder)
    assert report_input.left_out("local", from_ms, to_ms) == []
    delete(rolled_root, RAW)
    assert report_input.left_out("local", from_ms, to_ms) == []
    kept = [file for file in before.files if file.min_at_ms >= later_ms]
    assert 0 < len(kept) < len(before.files)
    manifest.replace(rolled_root, folder, before, kept)
    expected = [LevelRange(HOUR, from_ms, later_ms)]
    assert report_input.left_out("local", from_ms, to_ms) == expected
    assert report_input.report_parts("local", from_ms, to_ms)[0].from_ms == later_ms


@pytest.mark.parametrize("level", [HOUR, DAY])
def test_a_longer_time_than_the_longest_that_is_too_short_is_read_from_the_level(level):
    longest_ms = longest_range_ms_below(level.bucket_ms)
    levels = [level_for(bucket_ms_for(0, range_ms)) for range_ms in (longest_ms, longest_ms + 1)]
    assert LEVELS.index(levels[0]) < LEVELS.index(level)
    assert levels[1] is level
