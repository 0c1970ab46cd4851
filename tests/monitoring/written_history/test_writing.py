"""Written history: every level has it, what was recorded stays, and it can be removed."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.management import call_command

from monitoring.clusters.models import Cluster
from monitoring.history import (
    append_ticks,
    manifest,
    read_levels,
    series,
    table_specs,
    written_range,
)
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, RAW
from monitoring.history.root_folder import current
from monitoring.history.series import Range, Subject
from monitoring.history.table_specs import TICKS
from monitoring.management.commands import write_past_history
from monitoring.models import PipelineRun, PipelineState
from monitoring.pipeline import cluster_lock, do_job, run_next_job, workspace
from monitoring.pipeline.due_jobs import roll_ups
from monitoring.pipeline.tick_counts import read_tick_counts
from monitoring.written_history import writing
from tests.monitoring.pipeline.made_history import raw_rows
from tests.monitoring.written_history.recorded import STEP_MS, hour_ticks

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]

TODAY = 20_000 * DAY_MS
FIRST_HOUR = TODAY + 5 * HOUR_MS
NOW = TODAY + 7 * HOUR_MS
DAYS = 4
KEPT_DAYS = {RAW: 2, MINUTE: 2, HOUR: 3, DAY: 4}
RAW_TABLES = (TICKS, "partitions", "groups", "log_dirs")


@pytest.fixture
def root(tmp_path, settings, redis_server, monkeypatch):
    """A history that begins within an hour and has one complete hour."""
    settings.HISTORY_URL = f"file://{tmp_path}/history"
    settings.AERIE_TICK_SECONDS = STEP_MS // 1000
    settings.AERIE_HISTORY_RAW_HOURS = 40
    settings.AERIE_HISTORY_MINUTE_DAYS = 2
    settings.AERIE_HISTORY_HOUR_DAYS = 3
    append_ticks._changes_by_cluster.clear()
    monkeypatch.setattr(write_past_history, "now_ms", lambda: NOW)
    Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    return current()


@pytest.fixture
def recorded(root):
    append_ticks.append(root, "local", list(hour_ticks(FIRST_HOUR, hours=2))[20:])
    return root


def command(*arguments):
    call_command("write_past_history", "local", *arguments)


def waiting(root, now_ms):
    found = read_tick_counts(root, manifest.files_of_cluster(root, "local"))
    return roll_ups(found, dict.fromkeys(LEVELS, 0), now_ms)


def do_all(spark, root, now_ms):
    while found := waiting(root, now_ms):
        with workspace.opened(root, "local") as space:
            do_job.run(spark, space, found[0])


def rows(root, level, table, from_ms, to_ms):
    names = ["at_ms", "samples", "state", *table.counters]
    return read_levels.rows(root, "local", level, table, from_ms, to_ms, names, {}).to_pylist()


def check_levels(root):
    """Each level has each day that it keeps, and the same sums."""
    for level, count in ((RAW, 24 * 60), (MINUTE, 24 * 60), (HOUR, 24), (DAY, 1)):
        for day in range(DAYS):
            start_ms = TODAY - (day + 1) * DAY_MS
            found = read_levels.ticks(root, "local", level, start_ms, start_ms + DAY_MS)
            assert len(found) == (count if day < KEPT_DAYS[level] else 0)
    for table in (
        table_specs.CLUSTER,
        table_specs.TOPICS,
        table_specs.PARTITIONS,
        table_specs.GROUP_PARTITIONS,
    ):
        found = [
            sums(table, rows(root, level, table, start_ms, start_ms + DAY_MS))
            for level in (MINUTE, HOUR, DAY)
            for start_ms in (TODAY - DAY_MS, TODAY - 2 * DAY_MS)
        ]
        assert all(each == found[0] for each in found)
        assert any(found[0].values())


def sums(table, found):
    return {counter: sum(row[counter] for row in found) for counter in table.counters}


def check_charts():
    """They have no hole, but for the first minutes of the hour in which recording began."""
    for hours, points in ((1, 300), (24, 300), (40, 300), (3 * 24, 60)):
        for end_ms in (FIRST_HOUR, NOW):
            over = Range.until(end_ms, hours * HOUR_MS, points)
            read = series.read("local", Subject.topic("busy"), ["records", "size_bytes"], over)
            empty = np.flatnonzero(np.isnan(read.measures["records"].mean))
            hole = [int(over.from_ms + place * over.step_ms) for place in empty]
            first_ms, last_ms = FIRST_HOUR - 2 * over.step_ms, FIRST_HOUR + 22 * 60_000
            assert all(first_ms <= at_ms <= last_ms for at_ms in hole)
            assert math.isfinite(np.nanmean(read.measures["size_bytes"].mean))


def check_first_day(root):
    """The day in which the recorded history begins has each sample once."""
    ticks = read_levels.ticks(root, "local", DAY, TODAY, TODAY + DAY_MS)
    total = 5 * 60 + 40 + 60
    assert ticks["samples"].to_pylist() == [total]
    for table in (
        table_specs.CLUSTER,
        table_specs.PARTITIONS,
        table_specs.GROUPS,
        table_specs.BROKERS,
    ):
        found = rows(root, DAY, table, TODAY, TODAY + DAY_MS)
        # The last written sample says that everything is gone.
        assert {row["samples"] for row in found} == {total - 1}, table.name
        assert sums(table, found) == sums(table, rows(root, HOUR, table, TODAY, TODAY + DAY_MS))


def test_every_level_has_the_past_up_to_what_is_recorded_and_it_can_be_removed(
    recorded, spark, spark_server, capsys
):
    root = recorded
    raw = {name: raw_rows(root, name) for name in RAW_TABLES}
    command("--days", str(DAYS))
    out = capsys.readouterr().out
    assert "The pattern is 1 recorded hours." in out
    assert str(datetime.fromtimestamp(TODAY / 1000, UTC).date()) in out.splitlines()
    written = written_range.load(root, "local")
    assert written == written_range.WrittenRange(TODAY - DAYS * DAY_MS, FIRST_HOUR, "recorded")
    state = PipelineState.objects.get()
    assert (state.written_from_ms, state.written_to_ms) == (written.from_ms, written.to_ms)
    for name, found in raw.items():
        assert set(found) <= set(raw_rows(root, name))
    assert [job.start_ms for job in waiting(root, NOW)] == [FIRST_HOUR]  # what is recorded
    check_levels(root)
    check_charts()
    do_all(spark, root, TODAY + DAY_MS + HOUR_MS)
    check_first_day(root)
    command("--remove")
    assert "Removed the written history from" in capsys.readouterr().out
    assert written_range.load(root, "local") is None
    assert PipelineState.objects.get().written_from_ms is None
    assert {name: raw_rows(root, name) for name in RAW_TABLES} == raw
    for level in LEVELS:
        assert len(read_levels.ticks(root, "local", level, 0, FIRST_HOUR)) == 0
    # The idle topic has no row of its own in the second hour.
    assert len(rows(root, HOUR, table_specs.TOPICS, FIRST_HOUR, NOW)) == 3
    [day] = waiting(root, TODAY + DAY_MS + HOUR_MS)
    assert (day.kind, day.start_ms) == ("day", TODAY)  # without the hours that are gone


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no such cluster; there are: local"),
        (["local", "--days", "0"], "--days is between 1 and"),
        (["local", "--synthetic"], "no sample yet"),
        (["local"], "no sample yet"),
        (["local", "--remove"], "no written history"),
    ],
)
def test_what_cannot_be_done_is_said(root, arguments, said):
    with pytest.raises(SystemExit, match=said):
        call_command("write_past_history", *arguments)


def test_it_is_not_written_twice(root):
    written_range.store(root, "local", written_range.WrittenRange(0, DAY_MS, "recorded"))
    with pytest.raises(SystemExit, match="written history already: remove that first"):
        command()


@pytest.mark.parametrize("arguments", [[], ["--remove"]])
def test_while_the_pipeline_is_busy_with_the_cluster_nothing_is_changed(
    root, monkeypatch, arguments
):
    monkeypatch.setattr(write_past_history, "WAIT_S", 0)
    written = written_range.WrittenRange(0, DAY_MS, "recorded")
    written_range.store(root, "local", written)
    with (
        cluster_lock.held("local"),
        pytest.raises(SystemExit, match="the pipeline is busy with it: try again"),
    ):
        command(*arguments)
    assert written_range.load(root, "local") == written


def test_the_pipeline_does_nothing_while_history_is_removed(recorded, monkeypatch):
    def remove(*_):
        assert not run_next_job.run_next(Cluster.objects.get())
        assert not PipelineRun.objects.exists()
        return written_range.WrittenRange(0, DAY_MS, "recorded")

    monkeypatch.setattr(writing, "remove", remove)
    command("--remove")


def test_without_spark_it_says_what_to_do_and_writes_nothing(recorded, settings):
    settings.SPARK_CONNECT_PORT = 1
    with pytest.raises(SystemExit, match=r"Spark is not available.*Start the stack"):
        command()
    assert written_range.load(recorded, "local") is None


def test_a_large_cluster_is_refused(recorded, monkeypatch):
    monkeypatch.setattr(writing, "ROWS_MAX", 100)
    with pytest.raises(SystemExit, match="at most 100 can be a pattern"):
        command()


def test_redis_that_is_down_is_said(root, redis_server):
    redis_server.kill()
    try:
        with pytest.raises(SystemExit, match="aerie: local: "):
            command("--synthetic")
    finally:
        redis_server.start()
