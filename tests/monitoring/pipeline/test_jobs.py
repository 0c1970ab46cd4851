import pytest

from monitoring.history import manifest, reader
from monitoring.history.levels import DAY_MS, HOUR, HOUR_MS, LEVELS, MINUTE, RAW
from monitoring.history.stored_rows import read_file
from monitoring.history.table_specs import TABLES, TICKS, schema_of
from monitoring.pipeline import coverage, jobs, workspace
from monitoring.pipeline.plan import RollUpJob, merges, roll_ups
from tests.monitoring.pipeline.made_history import (
    START_MS,
    STEP_MS,
    raw_rows,
    rows_of_levels,
    ticks,
    write,
)
from tests.monitoring.tick_factory import make_tick

pytestmark = pytest.mark.spark
KEPT = dict.fromkeys(LEVELS, 0)


def do(spark, root, job):
    with workspace.opened(root, "local") as space:
        return jobs.run(spark, space, job)


def waiting(root, now_ms):
    return roll_ups(coverage.coverage(root, coverage.files(root, "local")), KEPT, now_ms)


def due_merges(root, now_ms):
    return merges(coverage.files(root, "local"), waiting(root, now_ms), now_ms)


def do_all(spark, root, now_ms):
    while found := waiting(root, now_ms):
        do(spark, root, found[0])


def test_minutes_and_an_hour_have_every_tick_of_the_raw_level(root, spark):
    made = ticks(1, hours=1)
    write(root, made)
    do(spark, root, RollUpJob(START_MS, (MINUTE, HOUR)))
    for level, count in ((MINUTE, 12), (HOUR, 1)):
        found = reader.ticks(root, "local", level, START_MS, START_MS + HOUR_MS)
        assert len(found) == count
        assert sum(found["samples"].to_pylist()) == sum(tick.ok for tick in made)
        assert sum(found["gaps"].to_pylist()) == sum(not tick.ok for tick in made)
    assert not root.entries("cluster=local", "_jobs")


def test_late_ticks_replace_the_hour_and_nothing_is_counted_twice(root, spark):
    made = ticks(2, hours=1)
    write(root, made[:-3])
    now_ms = START_MS + 2 * HOUR_MS
    do_all(spark, root, now_ms)
    write(root, made[-3:])
    assert waiting(root, now_ms) == [RollUpJob(START_MS, (MINUTE, HOUR))]
    do_all(spark, root, now_ms)
    found = rows_of_levels(root)
    assert len(found["minute ticks"]) == 12
    assert len(found["hour cluster"]) == 1


def test_a_day_and_all_merges_drop_no_row(root, spark):
    write(root, ticks(3, hours=2) + ticks(3, hours=1, start_ms=START_MS + DAY_MS))
    now_ms = START_MS + DAY_MS + 3 * HOUR_MS
    do_all(spark, root, now_ms)
    levels, raw = rows_of_levels(root), {name: raw_rows(root, name) for name in (TICKS, *TABLES)}
    assert len(levels["day ticks"]) == 1
    due = due_merges(root, now_ms)
    assert {job.place.level for job in due} == {MINUTE, HOUR}  # raw hours have one file already
    for job in due:
        do(spark, root, job)
    assert due_merges(root, now_ms) == []
    assert rows_of_levels(root) == levels
    assert {name: raw_rows(root, name) for name in (TICKS, *TABLES)} == raw
    day = manifest.load(root, due[0].place)
    assert all(len(day.of(table)) <= 1 for table in (TICKS, *TABLES))
    # An hour that is computed again leaves the merged file.
    do(spark, root, RollUpJob(START_MS + HOUR_MS, (MINUTE,)))
    assert rows_of_levels(root) == levels
    assert waiting(root, now_ms) == []


def test_the_raw_files_of_an_hour_become_one_when_it_is_rolled_up(root, spark):
    made = ticks(4, hours=2)
    for first in range(0, len(made), 4):
        write(root, made[first : first + 4])
    now_ms = START_MS + HOUR_MS + 30 * 60_000
    before = {name: raw_rows(root, name) for name in (TICKS, *TABLES)}
    assert due_merges(root, now_ms) == []
    do(spark, root, waiting(root, now_ms)[0])
    [job] = due_merges(root, now_ms)
    assert (job.place.level, job.start_ms) == (RAW, START_MS)
    do(spark, root, job)
    assert {name: raw_rows(root, name) for name in (TICKS, *TABLES)} == before
    assert len(manifest.load(root, job.place).of("partitions")) == 1


def test_a_second_worker_that_did_the_same_hour_is_refused(root, spark, monkeypatch):
    write(root, ticks(5, hours=1))
    job = RollUpJob(START_MS, (MINUTE,))
    real = workspace.Workspace.publish

    def overtaken(self, *args):
        with monkeypatch.context() as patched:
            patched.setattr(workspace.Workspace, "publish", real)
            do(spark, root, job)
        real(self, *args)

    monkeypatch.setattr(workspace.Workspace, "publish", overtaken)
    with pytest.raises(FileExistsError):
        do(spark, root, job)
    assert len(rows_of_levels(root)["minute ticks"]) == 12


def test_an_hour_of_gaps_has_ticks_and_no_rows(root, spark):
    write(root, [tick for tick in ticks(6, hours=3) if not tick.ok][:2])
    do_all(spark, root, START_MS + 10 * HOUR_MS)
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
    do(spark, root, RollUpJob(START_MS, (MINUTE, HOUR)))

    def of_hour(table, key):
        schema = schema_of(table, is_raw=False)
        [(place, file)] = reader.files(root, "local", HOUR, table, START_MS, START_MS + HOUR_MS)
        found = read_file(root, root.path(*place.folder, file.name), schema).to_pylist()
        return next(row for row in found if row[key[0]] == key[1])

    def lag(row):
        return [row[f"lag_{name}"] for name in ("last", "high", "sum", "samples")]

    assert lag(of_hour("groups", ("group", "a"))) == [2200, 2200, 2 * 6600, 12]
    assert of_hour("topics", ("topic", "a"))["records"] == 2200
    assert of_hour("topics", ("topic", "huge"))["records"] == 22
    huge = of_hour("group_partitions", ("topic", "huge"))
    assert lag(huge) == [largest - 1, largest - 1, 0, 0]  # no mean
    assert lag(of_hour("groups", ("group", "huge"))) == [None, None, 0, 0]
