"""The rows of the live window that stay in memory between two questions."""

import pytest

from monitoring.history import live_rows, live_ticks
from monitoring.history.table_specs import GROUPS, TOPICS
from monitoring.history.tick_changes import TickChanges
from monitoring.ticks.tick import decode
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

FIRST = 356_400_000
FROM_MS = FIRST * INTERVAL_MS


@pytest.fixture(autouse=True)
def _interval(settings):
    settings.AERIE_TICK_SECONDS = INTERVAL_MS // 1000


def put(number, end):
    row = {"partition": 0, "log_start_offset": 0, "log_end_offset": end}
    put_tick(make_tick(FIRST + number, partitions=[row | {"topic": name} for name in ("a", "b")]))


def records(from_ms=FROM_MS, topic="a"):
    ticks, rows = live_rows.rows_since("local", TOPICS, {"topic": topic}, from_ms)
    return len(ticks), rows["records"].to_pylist()


def test_only_new_ticks_are_decoded(redis_server, monkeypatch):
    decoded = []

    def counted(fields):
        decoded.append(fields)
        return decode(fields)

    for number in range(3):
        put(number, end=10 * number)
    assert records() == (3, [0, 10, 10])
    monkeypatch.setattr(live_ticks, "decode", counted)
    assert records() == (3, [0, 10, 10])
    assert decoded == []
    put(3, end=50)
    assert records() == (4, [0, 10, 10, 30])
    assert len(decoded) == 1
    assert records(topic="b") == (4, [0, 10, 10, 30])
    assert len(decoded) == 1


def test_ticks_for_which_there_is_no_room_are_decoded_again(redis_server, monkeypatch):
    monkeypatch.setattr(live_ticks, "_BYTES_MAX", 1000)
    for number in range(10):
        put(number, end=10 * number)
    assert records() == records(topic="b") == (10, [0] + [10] * 9)
    put(10, end=95)
    assert records() == records(topic="b") == (11, [0] + [10] * 9 + [5])


def test_a_redis_that_was_emptied_leaves_nothing_behind(redis_server):
    for number in range(3):
        put(number, end=10 * number)
    assert records() == (3, [0, 10, 10])
    redis_server.client().flushall()
    put(1, end=0)
    put(2, end=70)
    assert records() == (2, [0, 70])


def test_an_earlier_time_than_before_is_read_again(redis_server):
    for number in range(10):
        put(number, end=10 * number)
    assert records(FROM_MS + 8 * INTERVAL_MS)[0] == 2
    assert records() == (10, [0] + [10] * 9)


def test_without_redis_what_is_known_stays(redis_server):
    put(0, end=0)
    assert records()[0] == 1
    redis_server.kill()
    assert records()[0] == 1


def test_a_group_that_is_not_there_has_no_rows(redis_server):
    put(0, end=0)
    ticks, rows = live_rows.rows_since("local", GROUPS, {"group": "g"}, FROM_MS)
    assert (len(ticks), len(rows)) == (1, 0)


def test_the_rows_of_all_topics_that_were_asked_for_are_made_at_once(redis_server, monkeypatch):
    put(0, end=0)
    assert records(topic="a") == records(topic="b") == (1, [0])
    made = []
    changed_tables = TickChanges.changed_tables

    def counted(changes, tick, only):
        made.append(sorted(tick.partitions["topic"].to_pylist()))
        return changed_tables(changes, tick, only)

    monkeypatch.setattr(TickChanges, "changed_tables", counted)
    put(1, end=10)
    assert records(topic="a") == records(topic="b") == (2, [0, 10])
    assert made == [["a", "b"]]


def test_rows_that_are_not_needed_any_more_are_dropped(redis_server):
    put(0, end=0)
    assert records() == (1, [0])
    later = 6 * 60_000 // INTERVAL_MS
    put(later, end=10)
    assert records(FROM_MS + later * INTERVAL_MS) == (1, [0])
    [live] = live_rows._live_rows.values()
    assert live.rows["topics"].num_rows == 1


def test_rows_that_are_made_again_need_no_older_ticks(redis_server, monkeypatch):
    for number in range(10):
        put(number, end=10 * number)
    assert records() == (10, [0] + [10] * 9)
    live_ticks.forget()  # as if other clusters needed the room
    decoded = []

    def counted(fields):
        decoded.append(fields)
        return decode(fields)

    monkeypatch.setattr(live_ticks, "decode", counted)
    assert records(FROM_MS + 8 * INTERVAL_MS)[0] == 2
    assert len(decoded) == 6
