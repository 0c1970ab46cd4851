from collections import Counter

import pytest

from monitoring.history import manifest, read_levels
from monitoring.history.levels import DAY, DAY_MS, HOUR, HOUR_MS, MINUTE, RAW
from monitoring.history.parquet_files import read_file
from monitoring.history.table_specs import TABLES, TICKS, schema_of
from monitoring.pipeline import delete_expired_history, workspace
from monitoring.pipeline.due_jobs import MergeJob, RollUpJob
from monitoring.spark import history_tables
from monitoring.spark.jobs import roll_up_and_merge
from tests.monitoring.pipeline.do_all import due, run
from tests.monitoring.pipeline.made_history import (
    START_MS,
    STEP_MS,
    gap,
    raw_rows,
    rows_of_levels,
    ticks,
    write,
)
from tests.monitoring.pipeline.rolled_history import HOURS, SEED
from tests.monitoring.tick_factory import make_tick

pytestmark = pytest.mark.spark


def due_merges(now_ms):
    return [job for job in due(now_ms) if isinstance(job, MergeJob)]


def files_of_tables(root, job):
    """The number of files of each table in the time of a merge."""
    files = manifest.load(root, job.span_folder).files
    return Counter(file.table for file in files if job.start_ms <= file.min_at_ms < job.end_ms)


def test_each_level_has_every_tick_of_the_raw_level(rolled_root):
    made = ticks(SEED, HOURS)
    for level, count in ((MINUTE, 24), (HOUR, 2), (DAY, 1)):
        found = read_levels.ticks(rolled_root, "local", level, START_MS, START_MS + DAY_MS)
        assert len(found) == count
        assert sum(found["samples"].to_pylist()) == sum(tick.ok for tick in made)
        assert sum(found["gaps"].to_pylist()) == sum(not tick.ok for tick in made)
    assert not rolled_root.entries("cluster=local", "_jobs")


def test_late_ticks_replace_the_hour_and_nothing_is_counted_twice(root, spark):
    made = ticks(2, hours=1, has_groups=False)
    write(root, made[:-3])
    now_ms = START_MS + 2 * HOUR_MS
    [job] = due(now_ms)
    run(spark, job)
    write(root, made[-3:])
    again = due(now_ms, merges=False)
    assert again == [RollUpJob(START_MS, (MINUTE, HOUR))]
    run(spark, again[0])
    assert due(now_ms, merges=False) == []
    found = rows_of_levels(root)
    assert len(found["minute ticks"]) == 12
    assert len(found["hour cluster"]) == 1


def test_raw_files_are_not_merged_before_their_hour_is_rolled_up(root, spark):
    made = ticks(4, hours=2, has_topics=False)
    for first in range(0, len(made), 4):
        write(root, made[first : first + 4])
    now_ms = START_MS + HOUR_MS + 30 * 60_000
    assert due_merges(now_ms) == []
    run(spark, due(now_ms, merges=False)[0])
    [job] = due_merges(now_ms)  # the second hour has several files too, and waits
    assert (job.span_folder.level, job.start_ms) == (RAW, START_MS)


def test_merges_drop_no_row(rolled_root, spark):
    root, now_ms = rolled_root, START_MS + DAY_MS + 3 * HOUR_MS
    write(root, [gap(START_MS + DAY_MS)])  # of the next day, which is not over
    while found := due(now_ms, merges=False):
        run(spark, found[0])
    levels, raw = rows_of_levels(root), {name: raw_rows(root, name) for name in (TICKS, *TABLES)}
    assert len(levels["day ticks"]) == 1
    jobs = due_merges(now_ms)
    assert {(job.span_folder.level, job.start_ms) for job in jobs} == {
        (RAW, START_MS),  # the second hour has one file already
        (MINUTE, START_MS),
        (HOUR, START_MS),
    }
    before = [files_of_tables(root, job) for job in jobs]
    for job in jobs:
        run(spark, job)
    assert due_merges(now_ms) == []
    assert rows_of_levels(root) == levels
    assert {name: raw_rows(root, name) for name in (TICKS, *TABLES)} == raw
    after = [files_of_tables(root, job) for job in jobs]
    assert after == [dict.fromkeys(tables, 1) for tables in before]
    # An hour that is computed again leaves the merged file.
    run(spark, RollUpJob(START_MS + HOUR_MS, (MINUTE,)))
    assert rows_of_levels(root) == levels
    assert due(now_ms, merges=False) == []


def test_a_table_of_very_many_rows_has_several_files_until_its_day_is_merged(
    root, spark, monkeypatch
):
    write(root, ticks(7, hours=1))
    expected = raw_rows(root, "partitions")
    with monkeypatch.context() as patched:
        patched.setattr(history_tables, "_SMALL_ROWS", 1)
        patched.setattr(roll_up_and_merge, "ROWS_A_FILE", len(expected) // 3)
        run(spark, RollUpJob(START_MS, (MINUTE,)))
    write(root, [gap(START_MS + DAY_MS)])  # of the next day, so that this one is over
    now_ms = START_MS + DAY_MS + 3 * HOUR_MS
    while found := due(now_ms, merges=False):
        run(spark, found[0])
    rolled = rows_of_levels(root)
    [job] = [job for job in due_merges(now_ms) if job.span_folder.level == MINUTE]
    assert files_of_tables(root, job)["partitions"] > 1
    run(spark, job)
    assert files_of_tables(root, job)["partitions"] == 1
    assert rows_of_levels(root) == rolled


def test_a_second_worker_that_did_the_same_hour_is_refused(root, spark, monkeypatch):
    write(root, ticks(5, hours=1, has_topics=False))
    job = RollUpJob(START_MS, (MINUTE,))
    real = workspace.Workspace.publish

    def overtaken(self, *args):
        with monkeypatch.context() as patched:
            patched.setattr(workspace.Workspace, "publish", real)
            run(spark, job)
        real(self, *args)

    monkeypatch.setattr(workspace.Workspace, "publish", overtaken)
    with pytest.raises(FileExistsError):
        run(spark, job)
    assert len(rows_of_levels(root)["minute ticks"]) == 12


def test_a_job_whose_files_are_deleted_meanwhile_fails_and_changes_nothing(
    root, spark, monkeypatch
):
    write(root, ticks(8, hours=1))
    job = RollUpJob(START_MS, (MINUTE,))
    run(spark, job)
    rows = rows_of_levels(root)
    real = roll_up_and_merge.roll_up

    def deleted(*args):
        real(*args)
        delete_expired_history.delete(root, manifest.span_folders(root, "local", RAW))

    monkeypatch.setattr(roll_up_and_merge, "roll_up", deleted)
    with pytest.raises(Exception, match="PATH_NOT_FOUND"):
        run(spark, job)
    assert rows_of_levels(root) == rows


def test_an_hour_of_gaps_has_ticks_and_no_rows(root, spark):
    write(root, [tick for tick in ticks(6, hours=3) if not tick.ok][:2])
    while found := due(START_MS + 10 * HOUR_MS, merges=False):
        run(spark, found[0])
    found = rows_of_levels(root)
    assert found["minute ticks"]
    assert not found["minute partitions"]


def test_offsets_near_the_limit_leave_the_other_rows_as_they_are(root, spark):
    largest, made = 2**63 - 1, []
    for number in range(12):
        ends = {"a": 100 * number, "huge": largest - 12 + number}
        keys = [{"topic": topic, "partition": part} for topic in ends for part in (0, 1)]
        rows = [key | {"leader": 1, "log_start_offset": 0, "log_end_offset": ends[key["topic"]]}
                for key in keys]  # fmt: skip
        groups = [key | {"group": key["topic"], "committed_offset": 0,
                         "log_end_offset": ends[key["topic"]]} for key in keys]  # fmt: skip
        at = START_MS // STEP_MS + number
        made.append(make_tick(at, partitions=rows, groups=groups, interval_ms=STEP_MS))
    write(root, made)
    run(spark, RollUpJob(START_MS, (MINUTE, HOUR)))

    def of_hour(table, key):
        schema = schema_of(table, is_raw=False)
        [(span_folder, file)] = read_levels.files(
            root, "local", HOUR, table, START_MS, START_MS + HOUR_MS
        )
        found = read_file(root, root.path(*span_folder.folder, file.name), schema).to_pylist()
        return next(row for row in found if row[key[0]] == key[1])

    def lag(row):
        return [row[f"lag_{name}"] for name in ("last", "high", "sum", "samples")]

    assert lag(of_hour("groups", ("group", "a"))) == [2200, 2200, 2 * 6600, 12]
    assert of_hour("topics", ("topic", "a"))["records"] == 2200
    assert of_hour("topics", ("topic", "huge"))["records"] == 22
    huge = of_hour("group_partitions", ("topic", "huge"))
    assert lag(huge) == [largest - 1, largest - 1, 0, 0]  # no mean
    assert lag(of_hour("groups", ("group", "huge"))) == [None, None, 0, 0]
