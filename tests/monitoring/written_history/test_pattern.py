"""The day that is repeated, from recorded hours."""

import pyarrow as pa
import pytest

from monitoring.history.levels import DAY_MS, HOUR_MS
from monitoring.history.table_specs import CLUSTER, EXISTS, TABLES, TICKS
from monitoring.history.tick_changes import TickChanges
from monitoring.written_history import pattern
from tests.monitoring.written_history.recorded import STEP_MS, hour_ticks

DAY = 20_000 * DAY_MS


def hour(number=1, **fields):
    """A recorded hour; nothing of it is the first that was ever seen."""
    changes, parts = TickChanges(), {}
    start_ms = DAY - DAY_MS + number * HOUR_MS
    for tick in hour_ticks(start_ms - HOUR_MS, hours=2, **fields):
        for name, rows in changes.changed_tables(tick).items():
            if tick.at_ms >= start_ms:
                parts.setdefault(name, []).append(rows)
    tables = {name: pa.concat_tables(each).unify_dictionaries() for name, each in parts.items()}
    return pattern.Hour(start_ms, tables)


@pytest.mark.parametrize(
    ("count", "used"), [(1, 1), (2, 2), (5, 4), (7, 6), (11, 8), (23, 12), (24, 24)]
)
def test_so_many_hours_make_equal_days(count, used):
    assert pattern.hours_used(count) == used


def test_an_hour_is_complete_if_it_was_sampled_from_start_to_end():
    ticks = hour().tables[TICKS]
    start_ms = hour().start_ms
    assert pattern.is_complete(ticks, start_ms)
    assert not pattern.is_complete(ticks.slice(10), start_ms)
    assert not pattern.is_complete(ticks.slice(0, len(ticks) - 10), start_ms)
    assert not pattern.is_complete(ticks.slice(0, 0), start_ms)


def test_an_hour_in_which_a_topic_appears_is_not_steady():
    assert all(map(pattern.is_steady, (rows for n, rows in hour().tables.items() if n != TICKS)))
    assert not pattern.is_steady(hour(appears_at=70).tables["topics"])


def test_a_day_repeats_the_hours_and_its_end_joins_its_start():
    day = pattern.day_of_hours([hour()], DAY)
    assert len(day[TICKS]) == DAY_MS // STEP_MS
    ticks = day[TICKS].to_pylist()
    assert (ticks[0]["at_ms"], ticks[-1]["at_ms"]) == (DAY + 40, DAY + DAY_MS - STEP_MS + 40)
    assert all(tick["tick"] == tick["at_ms"] // STEP_MS for tick in ticks)
    for name, table in TABLES.items():
        if name not in day:
            continue
        rows = sorted(day[name].to_pylist(), key=lambda row: row["at_ms"])
        keys = {tuple(row[key] for key in table.keys) for row in rows}
        for key in keys:
            own = [row for row in rows if tuple(row[k] for k in table.keys) == key]
            assert own[0]["state_before"] == own[-1]["state"], name
            for gauge in table.gauges:
                assert own[0][f"{gauge}_before"] == own[-1][gauge], (name, gauge)


def test_offsets_and_topic_ids_of_the_past_are_unknown():
    day = pattern.day_of_hours([hour()], DAY)
    [found] = {
        (row["topic_id"], row["log_start_offset"], row["log_end_offset"])
        for row in day["partitions"].to_pylist()
    }
    assert found == (None, None, None)
    assert sum(day["partitions"]["records"].to_pylist()) > 0


def test_a_topic_that_appears_in_the_pattern_is_refused():
    with pytest.raises(pattern.NotSteady, match="partitions"):
        pattern.day_of_hours([hour(appears_at=70)], DAY)


def test_at_the_end_of_the_range_everything_disappears():
    cut = pattern.cut_day(pattern.day_of_hours([hour()], DAY), DAY + 5 * HOUR_MS)
    last_ms = max(cut[TICKS]["at_ms"].to_pylist())
    assert last_ms == DAY + 5 * HOUR_MS - STEP_MS + 40
    for name, table in TABLES.items():
        if name not in cut:
            continue
        rows = cut[name].to_pylist()
        assert max(row["at_ms"] for row in rows) == last_ms
        ends = [row for row in rows if row["at_ms"] == last_ms]
        keys = {tuple(row[key] for key in table.keys) for row in rows}
        assert len(ends) == len(keys)
        assert all(row["state"] & EXISTS == 0 for row in ends), name
        assert all(row[gauge] is None for row in ends for gauge in table.gauges)
    assert CLUSTER.name in cut
