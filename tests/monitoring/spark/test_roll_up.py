"""Roll-ups by Spark against plain Python, which looks at every sample (../history/reference.py)."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.table_specs import TABLES, TICKS, UNANSWERED_MS, Table, schema_of
from monitoring.history.tick_changes import TickChanges
from monitoring.spark.jobs.roll_up_and_merge import ROWS_A_FILE, RollUp, merge, roll_up
from monitoring.spark.jobs.time_slices import ROWS_A_SLICE, SourceFile, time_slices
from monitoring.spark.transforms.buckets import Bucket
from tests.monitoring.history import random_cluster
from tests.monitoring.history.reference import Step, level_rows
from tests.monitoring.history.reference_samples import steps_of

pytestmark = pytest.mark.spark

# A sample each 5 minutes instead of each 5 s, so the first level has 15 minutes instead of one.
QUARTER_MS = 15 * 60_000
# The roll-up of raw rows of these is compiled and divided, as a large one is; that of the others
# is as a small one, which takes a fraction of the time, with the same expressions.
LARGE = ("partitions", "groups")
START_MS = 1_760_000_000_000 // DAY_MS * DAY_MS
TICKS_COUNT = 12 * 20  # from 15:00 to 11:00 of the next day; no samples from 23:00 to 01:05


@pytest.fixture(scope="module")
def ticks() -> list[dict]:
    return random_cluster.ticks(7, START_MS + 15 * HOUR_MS, TICKS_COUNT)


@pytest.fixture(scope="module")
def steps(ticks: list[dict]) -> list[Step]:
    return steps_of(ticks)


@pytest.fixture(scope="module")
def raw_files(ticks: list[dict], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The raw rows in files of a few ticks."""
    folder, changes = tmp_path_factory.mktemp("raw"), TickChanges()
    found: dict = {name: [] for name in (*TABLES, TICKS)}
    for first in range(0, len(ticks), 40):
        parts: dict = {name: [] for name in found}
        for tick in ticks[first : first + 40]:
            for name, rows in changes.changed_tables(random_cluster.to_tick(tick)).items():
                parts[name].append(rows)
        for name, tables in parts.items():
            if tables:
                path = folder / f"{name}-{first}.parquet"
                pq.write_table(pa.concat_tables(tables).unify_dictionaries(), path)
                found[name].append(str(path))
    return found


def only_file(folder: Path) -> Path:
    [file] = folder.glob("*.parquet")
    return file


def source_file(path: str | Path, rows: int = 0) -> SourceFile:
    times = pq.read_table(path, columns=["at_ms"])["at_ms"].to_pylist()
    return SourceFile(str(path), rows or len(times), min(times), max(times))


def buckets_of(steps: list[Step], bucket_ms: int) -> list[Bucket]:
    found: dict[int, list[Step]] = {}
    for step in steps:
        found.setdefault(step.at_ms // bucket_ms * bucket_ms, []).append(step)
    return [
        Bucket(at_ms, len(inside), sum(step.step_ms or 0 for step in inside))
        for at_ms, inside in found.items()
    ]


def rows_of(path: Path, table: Table) -> dict[tuple, dict]:
    """The rows by time and key; checks order and types."""
    stored = pq.read_table(path)
    plain = [
        (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in table.level_schema
    ]
    assert [(field.name, field.type) for field in stored.schema] == plain
    rows = stored.to_pylist()
    order = [(*(row[key] for key in table.keys), row["at_ms"]) for row in rows]
    assert order == sorted(order)
    assert len(set(order)) == len(order)
    figures = [name for name, _ in plain if name != "at_ms" and name not in table.keys]
    return {
        (row["at_ms"], *(row[key] for key in table.keys)): {name: row[name] for name in figures}
        for row in rows
    }


@pytest.mark.parametrize("name", TABLES)
def test_every_figure_of_every_level_agrees_with_plain_python(
    spark: SparkSession,
    steps: list[Step],
    raw_files: dict[str, list[str]],
    tmp_path: Path,
    name: str,
) -> None:
    table, second_day = TABLES[name], START_MS + DAY_MS
    end_ms = second_day + DAY_MS

    def run(folder: str, files: list, finer_ms: int, bucket_ms: int, range_ms: tuple, kept: int):
        buckets = [b for b in buckets_of(steps, finer_ms) if range_ms[0] <= b.at_ms < range_ms[1]]
        output = str(tmp_path / folder)
        # With and without compiled code.
        rows = None if finer_ms == 1 and name in LARGE else 1000
        roll_up(spark, RollUp(name, finer_ms == 1, [source_file(file) for file in files], buckets,
                              bucket_ms, kept, output, rows))  # fmt: skip
        return only_file(tmp_path / folder)

    whole = START_MS, end_ms
    quarters = run("quarters", raw_files[name], 1, QUARTER_MS, whole, end_ms)
    assert rows_of(quarters, table) == level_rows(table, steps, QUARTER_MS, HOUR_MS)

    # The hours of a day after the first one that has samples have no rows that only repeat.
    hours = []
    for start_ms in (START_MS, second_day):
        range_ms = start_ms, start_ms + DAY_MS
        first_ms = min(b.at_ms for b in buckets_of(steps, HOUR_MS) if b.at_ms >= start_ms)
        hours.append(
            run(f"{start_ms}", [quarters], QUARTER_MS, HOUR_MS, range_ms, first_ms + HOUR_MS)
        )
    found = {key: row for file in hours for key, row in rows_of(file, table).items()}
    assert found == level_rows(table, steps, HOUR_MS, DAY_MS)

    days = run("days", hours, HOUR_MS, DAY_MS, whole, end_ms)
    assert rows_of(days, table) == level_rows(table, steps, DAY_MS, DAY_MS)


# Slices only choose the rows that a task reads; the figures of every table are compared above.
@pytest.mark.parametrize("name", ["partitions", "group_partitions", "cluster"])
def test_rows_that_are_rolled_up_in_slices_of_time_are_the_same(
    spark: SparkSession,
    steps: list[Step],
    raw_files: dict[str, list[str]],
    tmp_path: Path,
    name: str,
) -> None:
    # They say that they have many rows. Some files have ticks of two slices.
    files = [source_file(path, ROWS_A_SLICE // 2) for path in raw_files[name]]
    buckets, end_ms = buckets_of(steps, 1), START_MS + 2 * DAY_MS
    one, other, _ = time_slices(files, buckets, QUARTER_MS)
    assert set(one.files) & set(other.files)
    output = str(tmp_path / "quarters")
    roll_up(spark, RollUp(name, True, files, buckets, QUARTER_MS, end_ms, output, 10**6))
    found = rows_of(only_file(tmp_path / "quarters"), TABLES[name])
    assert found == level_rows(TABLES[name], steps, QUARTER_MS, HOUR_MS)


def test_a_roll_up_of_very_many_rows_writes_several_files_with_all_rows_of_a_topic_in_one(
    spark: SparkSession, steps: list[Step], raw_files: dict[str, list[str]], tmp_path: Path
) -> None:
    table, end_ms = TABLES["partitions"], START_MS + 2 * DAY_MS
    files = [source_file(path) for path in raw_files[table.name]]
    output, rows = str(tmp_path / "quarters"), 3 * ROWS_A_FILE
    buckets = buckets_of(steps, 1)
    roll_up(spark, RollUp(table.name, True, files, buckets, QUARTER_MS, end_ms, output, rows))
    parts = [rows_of(path, table) for path in (tmp_path / "quarters").glob("*.parquet")]
    topics = [{key[1] for key in part} for part in parts]
    assert 1 < len(parts) <= 3
    assert sum(map(len, topics)) == len(set().union(*topics))
    found = {key: row for part in parts for key, row in part.items()}
    assert found == level_rows(table, steps, QUARTER_MS, HOUR_MS)


@pytest.mark.parametrize("name", ["partitions", TICKS])
def test_merged_files_have_the_same_rows_in_order(
    spark: SparkSession, raw_files: dict[str, list[str]], tmp_path: Path, name: str
) -> None:
    merge(spark, name, True, raw_files[name], 1000, str(tmp_path / "merged"))
    keys = [*TABLES[name].keys, "at_ms"] if name in TABLES else ["at_ms"]
    merged = pq.read_table(only_file(tmp_path / "merged"))
    parts = [pq.read_table(file).cast(merged.schema) for file in raw_files[name]]
    expected = pa.concat_tables(parts).sort_by([(key, "ascending") for key in keys])
    assert merged.to_pylist() == expected.to_pylist()
    assert merged.schema.names == schema_of(name, is_raw=True).names


def test_older_files_without_the_time_without_an_answer_are_rolled_up(
    spark: SparkSession, steps: list[Step], raw_files: dict[str, list[str]], tmp_path: Path
) -> None:
    table, end_ms = TABLES["group_partitions"], START_MS + 2 * DAY_MS

    def run(folder: str, path: str | Path, finer_ms: int, bucket_ms: int) -> Path:
        buckets, output = buckets_of(steps, finer_ms), str(tmp_path / folder)
        roll_up(spark, RollUp(table.name, finer_ms == 1, [source_file(path)], buckets, bucket_ms,
                              end_ms, output, 1000))  # fmt: skip
        return only_file(tmp_path / folder)

    quarters = run("quarters", raw_files[table.name][0], 1, QUARTER_MS)
    older = tmp_path / "older.parquet"
    pq.write_table(pq.read_table(quarters).drop_columns(UNANSWERED_MS), older)
    found = rows_of(run("hours", older, QUARTER_MS, HOUR_MS), table)
    newer = rows_of(run("newer", quarters, QUARTER_MS, HOUR_MS), table)
    assert found == {key: row | {UNANSWERED_MS: None} for key, row in newer.items()}


def test_a_roll_up_of_no_files_is_a_file_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    output = str(tmp_path / "empty")
    roll_up(spark, RollUp("topics", True, [], [], HOUR_MS, DAY_MS, output))
    assert pq.read_table(only_file(tmp_path / "empty")).num_rows == 0
