"""The invented day."""

import pytest

from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.tables import TABLES, TICKS
from monitoring.past import synthetic
from monitoring.ticks.tick import Tick
from tests.monitoring.past.recorded import hour_ticks
from tests.monitoring.tick_factory import make_tick

DAY = 20_000 * DAY_MS


@pytest.fixture(scope="module", autouse=True)
def _few_ticks():
    """A tick each ten minutes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(synthetic, "INTERVAL_MS", 600_000)
        yield


@pytest.fixture(scope="module")
def day():
    [sample, *_] = hour_ticks(DAY - HOUR_MS)
    return synthetic.day(sample, DAY)


def records(day, hour):
    first_ms = DAY + hour * HOUR_MS
    return sum(
        row["records"]
        for row in day["cluster"].to_pylist()
        if first_ms <= row["at_ms"] < first_ms + HOUR_MS
    )


def test_it_has_a_tick_in_each_interval_and_each_has_a_rate(day):
    ticks = day[TICKS].to_pylist()
    assert len(ticks) == DAY_MS // synthetic.INTERVAL_MS
    assert {tick["step_ms"] for tick in ticks} == {synthetic.INTERVAL_MS}


def test_it_has_the_topics_groups_and_brokers_of_the_sample(day):
    for table, column, names in (
        ("topics", "topic", {"busy", "idle"}),
        ("groups", "group", {"g"}),
        ("brokers", "broker", {1}),
        ("log_dirs", "log_dir", {"/d"}),
    ):
        assert set(day[table][column].to_pylist()) == names


def test_traffic_is_lowest_at_midnight_and_highest_at_noon(day):
    assert records(day, 12) > 5 * records(day, 0) > 0
    assert records(day, 6) < records(day, 9) < records(day, 12)


def test_its_end_joins_its_start(day):
    for name, table in TABLES.items():
        rows = sorted(day[name].to_pylist(), key=lambda row: row["at_ms"])
        for key in {tuple(row[key] for key in table.keys) for row in rows}:
            own = [row for row in rows if tuple(row[column] for column in table.keys) == key]
            assert own[0]["state_before"] == own[-1]["state"]
            assert all(own[0][f"{gauge}_before"] == own[-1][gauge] for gauge in table.gauges)


@pytest.mark.parametrize("sample", [make_tick(1, brokers=[{"id": 1, "up": True}]), make_tick(1)])
def test_a_sample_without_topics_can_be_a_pattern(sample: Tick):
    assert len(synthetic.day(sample, DAY)[TICKS]) == DAY_MS // synthetic.INTERVAL_MS
