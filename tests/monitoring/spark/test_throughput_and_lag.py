"""The job over files in the history's own format, against the same figures without Spark."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from monitoring.own_topics import NAMES
from monitoring.reports.kinds import KINDS, THROUGHPUT_AND_LAG
from monitoring.scope import Scope
from monitoring.spark import input_schemas
from monitoring.spark.jobs import throughput_and_lag
from monitoring.spark.jobs.throughput_and_lag import STAGES, Outcome, Request, run
from monitoring.ticks.schema import GROUPS, PARTITIONS
from tests.monitoring.spark import reference

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Two files of each table, in the folders that the history uses."""
    folder = tmp_path_factory.mktemp("history") / "cluster=local" / "hour=2025100908"
    folder.mkdir(parents=True)
    partitions, groups = reference.a_bad_day(seed=7)
    return {
        "partition_rows": partitions,
        "group_rows": groups,
        "partitions": _write(folder, "partitions", PARTITIONS, partitions),
        "groups": _write(folder, "groups", GROUPS, groups),
    }


def _write(folder: Path, table: str, schema: pa.Schema, rows: list[dict]) -> list[str]:
    half = len(rows) // 2
    names = []
    for number, part in enumerate((rows[:half], rows[half:])):
        names.append(str(folder / f"{table}-{number}.parquet"))
        full = [{"cluster": "local", "tick": row["at_ms"] // 5000} | row for row in part]
        pq.write_table(pa.Table.from_pylist(full, schema=schema), names[-1])
    return names


def request_of(history: dict, **fields: object) -> Request:
    times = [row["at_ms"] for row in history["partition_rows"]]
    return Request(
        **{
            "from_ms": min(times) // 60_000 * 60_000,
            "to_ms": max(times) + 1,
            "partition_files": history["partitions"],
            "group_files": history["groups"],
        }
        | fields
    )


def test_the_page_has_a_text_for_each_stage_of_the_job() -> None:
    assert KINDS[THROUGHPUT_AND_LAG].stages == STAGES


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, history: dict) -> Outcome:
    stages: list[int] = []
    computed = run(spark, request_of(history), stages.append)
    assert stages == list(range(len(STAGES)))
    return computed


def test_every_figure_agrees_with_plain_python(outcome: Outcome, history: dict) -> None:
    gap_ms = outcome.figures["gap_ms"]
    topics, series = reference.throughput(history["partition_rows"], 60_000, gap_ms)
    found = {row["topic"]: row for row in outcome.tables["topics"].to_pylist()}
    assert {name: {key: found[name][key] for key in row} for name, row in topics.items()} == {
        name: pytest.approx(row) for name, row in topics.items()
    }
    rates = {
        (row["topic"], row["bucket_ms"]): (row["messages_per_minute"], row["bytes_per_minute"])
        for row in outcome.tables["topic_series"].to_pylist()
    }
    assert rates == {key: pytest.approx(values) for key, values in series.items()}
    assert outcome.figures["messages"] == sum(row["messages"] for row in topics.values())
    assert outcome.figures["messages_least"]  # offsets went back on that day
    busiest = max(topics, key=lambda name: topics[name]["messages"])
    assert outcome.figures["busiest_topic"] == busiest


def test_every_lag_agrees_with_plain_python(outcome: Outcome, history: dict) -> None:
    totals = reference.group_lag(history["group_rows"])
    expected = {
        name: reference.lag_summary(values, outcome.figures["gap_ms"])
        for name, values in totals.items()
    }
    found = {row["group"]: row for row in outcome.tables["groups"].to_pylist()}
    assert {name: {key: found[name][key] for key in row} for name, row in expected.items()} == {
        name: pytest.approx(row) for name, row in expected.items()
    }
    assert outcome.figures["worst_group"] == "slow"
    assert outcome.figures["worst_lag"] == expected["slow"]["lag_max"]


def test_hidden_topics_are_in_no_table_and_no_sum(spark: SparkSession, history: dict) -> None:
    outcome = run(spark, request_of(history, scope=Scope(hidden_topics=NAMES)), lambda stage: None)
    rows = [row for row in history["group_rows"] if row["topic"] not in NAMES]
    slow = reference.lag_summary(reference.group_lag(rows)["slow"], outcome.figures["gap_ms"])
    found = {row["group"]: row for row in outcome.tables["groups"].to_pylist()}
    assert found["slow"]["lag_max"] == slow["lag_max"]
    assert set(outcome.tables["topics"]["topic"].to_pylist()) == {"orders", "clicks"}
    assert set(outcome.tables["topic_series"]["topic"].to_pylist()) == {"orders", "clicks"}


def test_what_is_outside_the_scope_is_in_no_table(spark: SparkSession, history: dict) -> None:
    request = request_of(history, scope=Scope(topics=("ord*",), groups=("slow",)))
    outcome = run(spark, request, lambda stage: None)
    assert outcome.tables["topics"]["topic"].to_pylist() == ["orders"]
    assert outcome.tables["groups"]["group"].to_pylist() == ["slow"]


def test_sums_are_lower_bounds_if_a_table_is_cut(
    spark: SparkSession, history: dict, monkeypatch
) -> None:
    monkeypatch.setattr(throughput_and_lag, "SUMMARY_ROWS_MAX", 2)
    outcome = run(spark, request_of(history), lambda stage: None)
    assert outcome.tables["topics"].num_rows == outcome.figures["topics"] == 2
    assert outcome.tables["groups"].num_rows == 2
    assert outcome.figures["topics_least"]
    assert outcome.figures["groups_least"]
    assert outcome.figures["messages_least"]


def test_only_samples_in_the_range_count(spark: SparkSession, history: dict) -> None:
    middle = history["partition_rows"][len(history["partition_rows"]) // 2]["at_ms"]
    outcome = run(spark, request_of(history, to_ms=middle), lambda stage: None)
    rows = [row for row in history["partition_rows"] if row["at_ms"] < middle]
    topics, _ = reference.throughput(rows, 60_000, outcome.figures["gap_ms"])
    assert outcome.figures["messages"] == sum(row["messages"] for row in topics.values())


def test_no_files_give_empty_tables_and_unknown_figures(spark: SparkSession) -> None:
    request = Request(from_ms=0, to_ms=3_600_000, partition_files=[], group_files=[])
    outcome = run(spark, request, lambda stage: None)
    assert [table.num_rows for table in outcome.tables.values()] == [0, 0, 0, 0]
    assert outcome.figures["messages"] is None
    assert outcome.figures["worst_lag"] is None
    assert outcome.figures["ticks"] == 0


def test_a_file_that_is_in_no_manifest_is_not_read(spark: SparkSession, history: dict) -> None:
    outcome = run(
        spark, request_of(history, partition_files=history["partitions"][:1]), lambda stage: None
    )
    half = history["partition_rows"][: len(history["partition_rows"]) // 2]
    topics, _ = reference.throughput(half, 60_000, outcome.figures["gap_ms"])
    assert outcome.figures["messages"] == sum(row["messages"] for row in topics.values())


@pytest.mark.parametrize(
    ("arrow", "spark_schema"),
    [(PARTITIONS, input_schemas.PARTITION_SAMPLES), (GROUPS, input_schemas.GROUP_SAMPLES)],
)
def test_the_columns_read_are_columns_of_the_history(arrow: pa.Schema, spark_schema) -> None:
    names = {pa.int64(): "bigint", pa.int32(): "int"}
    for field in spark_schema.fields:
        written = arrow.field(field.name).type
        expected = "string" if pa.types.is_dictionary(written) else names[written]
        assert field.dataType.simpleString() == expected, field.name
