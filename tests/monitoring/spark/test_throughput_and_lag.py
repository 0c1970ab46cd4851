"""The job over the history's files, against the same figures in plain Python."""

import pytest
from pyspark.sql import SparkSession

from monitoring.console_topics import NAMES
from monitoring.history import append_ticks
from monitoring.history.levels import MINUTE_MS
from monitoring.history.root_folder import current
from monitoring.reports.kinds import KINDS, THROUGHPUT_AND_LAG
from monitoring.reports.report_input import report_parts
from monitoring.scope import EVERYTHING, Scope
from monitoring.spark.jobs import throughput_and_lag
from monitoring.spark.jobs.throughput_and_lag import Outcome, Request, run
from monitoring.ticks.tick import Tick
from tests.monitoring.spark import bad_day
from tests.monitoring.tick_factory import INTERVAL_MS

pytestmark = pytest.mark.spark
FROM_MS = bad_day.START * INTERVAL_MS + 5 * MINUTE_MS  # within an hour, behind its first rows
TO_MS = FROM_MS + 240 * MINUTE_MS


@pytest.fixture(scope="module")
def ticks() -> list[Tick]:
    found = bad_day.a_bad_day(seed=7, cluster="bad-day")
    append_ticks._changes_by_cluster.clear()
    for start in range(0, len(found), 30):
        append_ticks.append(current(), "bad-day", found[start : start + 30])
    return found


def computed(spark, from_ms=FROM_MS, to_ms=TO_MS, scope=EVERYTHING) -> Outcome:
    parts = report_parts("bad-day", from_ms, to_ms)
    return run(spark, Request(from_ms, to_ms, parts, scope), lambda stage: None)


@pytest.fixture(scope="module")
def outcome(spark: SparkSession, ticks) -> Outcome:
    stages: list[int] = []
    parts = report_parts("bad-day", FROM_MS, TO_MS)
    found = run(spark, Request(FROM_MS, TO_MS, parts), stages.append)
    assert stages == list(range(len(KINDS[THROUGHPUT_AND_LAG].stages)))
    return found


def by_name(outcome: Outcome, table: str, name: str) -> dict[str, dict]:
    return {row[name]: row for row in outcome.tables[table].to_pylist()}


def same(found: dict, expected: dict) -> None:
    assert {name: {key: found[name][key] for key in row} for name, row in expected.items()} == {
        name: pytest.approx(row) for name, row in expected.items()
    }


def test_every_figure_of_a_topic_agrees_with_plain_python(outcome, ticks) -> None:
    expected = bad_day.topics_of(ticks, FROM_MS, TO_MS)
    same(by_name(outcome, "topics", "topic"), expected)
    assert outcome.figures["messages"] == sum(row["messages"] for row in expected.values())
    busiest = max(expected, key=lambda name: expected[name]["messages"])
    assert outcome.figures["busiest_topic"] == busiest
    inside = [tick for tick in ticks if FROM_MS <= tick.at_ms < TO_MS]
    assert outcome.figures["ticks"] == len(inside)


def test_every_lag_agrees_with_plain_python(outcome, ticks) -> None:
    expected = bad_day.groups_of(ticks, FROM_MS, TO_MS)
    same(by_name(outcome, "groups", "group"), expected)
    assert outcome.figures["worst_group"] == "slow"
    assert outcome.figures["worst_lag"] == expected["slow"]["lag_max"]


def test_a_peak_is_never_below_the_mean(outcome) -> None:
    for row in outcome.tables["topics"].to_pylist():
        assert row["messages_per_minute_peak"] >= row["messages_per_minute_mean"]


def test_a_topic_without_traffic_has_zeros_and_no_gaps_but_the_outage(outcome) -> None:
    quiet = [row for row in outcome.tables["topic_series"].to_pylist() if row["topic"] == "quiet"]
    assert {row["messages_per_minute"] for row in quiet} <= {0.0, None}
    assert len([row for row in quiet if row["messages_per_minute"] == 0.0]) >= 5


def test_the_series_add_up_to_the_summary(outcome) -> None:
    series = [row for row in outcome.tables["group_series"].to_pylist() if row["group"] == "slow"]
    slow = by_name(outcome, "groups", "group")["slow"]
    assert max(row["lag_max"] for row in series if row["lag_max"] is not None) == slow["lag_max"]
    assert min(row["lag_min"] for row in series if row["lag_min"] is not None) == slow["lag_min"]


def test_hidden_topics_are_in_no_table_and_no_sum(spark, ticks, outcome) -> None:
    found = computed(spark, scope=Scope(hidden_topics=NAMES))
    assert set(found.tables["topics"]["topic"].to_pylist()) == {"orders", "clicks", "quiet"}
    assert "console.audit" not in found.tables["topic_series"]["topic"].to_pylist()
    # A group that reads a hidden topic is left out, the others are as they were.
    before = by_name(outcome, "groups", "group")
    assert by_name(found, "groups", "group") == {
        name: row for name, row in before.items() if name != "auditors"
    }
    assert outcome.figures["groups_left_out"] == 0
    assert found.figures["groups_left_out"] == 1
    assert found.figures["groups_left_out_names"] == ["auditors"]


def test_what_is_outside_the_scope_is_in_no_table(spark, ticks) -> None:
    found = computed(spark, scope=Scope(topics=("ord*",), groups=("fast", "slow")))
    assert found.tables["topics"]["topic"].to_pylist() == ["orders"]
    assert found.tables["groups"]["group"].to_pylist() == ["fast"], "slow reads clicks, too"
    assert found.figures["groups_left_out_names"] == ["slow"], "auditors are outside the scope"


def test_the_groups_that_are_left_out_are_counted_beyond_the_first_names(
    spark, ticks, monkeypatch
) -> None:
    monkeypatch.setattr(throughput_and_lag, "LEFT_OUT_NAMES_MAX", 1)
    found = computed(spark, scope=Scope(topics=("ord*",)))
    assert found.figures["groups_left_out"] == 2
    assert found.figures["groups_left_out_names"] == ["auditors"]


def test_sums_are_lower_bounds_if_a_table_is_cut(spark, ticks, monkeypatch) -> None:
    monkeypatch.setattr(throughput_and_lag, "SUMMARY_ROWS_MAX", 2)
    found = computed(spark)
    assert found.tables["topics"].num_rows == found.figures["topics"] == 2
    assert found.tables["groups"].num_rows == 2
    assert found.figures["topics_least"]
    assert found.figures["messages_least"]


def test_only_samples_in_the_range_count(spark, ticks) -> None:
    to_ms = FROM_MS + 6 * MINUTE_MS + 1234
    found = computed(spark, to_ms=to_ms)
    same(by_name(found, "topics", "topic"), bad_day.topics_of(ticks, FROM_MS, to_ms))


def test_no_samples_give_empty_tables_and_unknown_figures(spark: SparkSession) -> None:
    found = run(spark, Request(0, 3_600_000, []), lambda stage: None)
    assert [table.num_rows for table in found.tables.values()] == [0, 0, 0, 0]
    assert found.figures["messages"] is None
    assert found.figures["worst_lag"] is None
    assert found.figures["ticks"] == 0
