"""The invented hour, repeated for a day."""

import pytest

from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.table_specs import TABLES, TICKS
from monitoring.ticks.tick import Tick
from monitoring.written_history import synthetic_hour
from monitoring.written_history.pattern import day_of_hours
from tests.monitoring.tick_factory import make_tick
from tests.monitoring.written_history.recorded import STEP_MS, hour_ticks

DAY = 20_000 * DAY_MS


@pytest.fixture(scope="module")
def day():
    [sample, *_] = hour_ticks(DAY - HOUR_MS)
    return day_of_hours([synthetic_hour.hour(sample, DAY, STEP_MS)], DAY)


def records(day, first, end):
    """What was produced in these minutes of an hour."""
    first_ms, end_ms = DAY + 5 * HOUR_MS + first * 60_000, DAY + 5 * HOUR_MS + end * 60_000
    rows = day["cluster"].to_pylist()
    return sum(row["records"] for row in rows if first_ms <= row["at_ms"] < end_ms)


def test_it_has_a_tick_in_each_interval_and_each_has_a_rate(day):
    ticks = day[TICKS].to_pylist()
    assert len(ticks) == DAY_MS // STEP_MS
    assert {tick["step_ms"] for tick in ticks} == {STEP_MS}


def test_it_has_the_topics_groups_and_brokers_of_the_sample(day):
    for table, column, names in (
        ("topics", "topic", {"busy", "idle"}),
        ("groups", "group", {"g"}),
        ("brokers", "broker", {1}),
        ("log_dirs", "log_dir", {"/d"}),
    ):
        assert set(day[table][column].to_pylist()) == names


def test_traffic_is_lowest_at_the_full_hour_and_highest_at_half_past(day):
    assert records(day, 25, 35) > 4 * records(day, 0, 5) > 0
    assert records(day, 5, 10) < records(day, 15, 20) < records(day, 25, 30)


def test_internal_topics_are_idle():
    rows = [{"topic": topic, "partition": 0, "leader": 1} for topic in ("__internal", "orders")]
    hour = synthetic_hour.hour(make_tick(1, partitions=rows), DAY, STEP_MS)
    added = {"__internal": 0, "orders": 0}
    for row in hour.tables["topics"].to_pylist():
        added[row["topic"]] += row["records"]
    assert added["__internal"] == 0 < added["orders"]


def test_its_end_joins_its_start(day):
    for name, table in TABLES.items():
        rows = sorted(day[name].to_pylist(), key=lambda row: row["at_ms"])
        for key in {tuple(row[key] for key in table.keys) for row in rows}:
            own = [row for row in rows if tuple(row[column] for column in table.keys) == key]
            assert own[0]["state_before"] == own[-1]["state"]
            assert all(own[0][f"{gauge}_before"] == own[-1][gauge] for gauge in table.gauges)


@pytest.mark.parametrize("sample", [make_tick(1, brokers=[{"id": 1, "up": True}]), make_tick(1)])
def test_a_sample_without_topics_can_be_a_pattern(sample: Tick):
    day = day_of_hours([synthetic_hour.hour(sample, DAY, STEP_MS)], DAY)
    assert len(day[TICKS]) == DAY_MS // STEP_MS
