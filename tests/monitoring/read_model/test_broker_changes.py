"""Brokers that leave and come back are found by comparing ticks."""

from monitoring.read_model.broker_changes import CHANGES_MAX, RETENTION_MS
from monitoring.read_model.tick_columns import TickColumns
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick


def broker(number: int, *, up: bool, **more: int) -> dict:
    return {"id": number, "host": "h", "port": 9092, "up": up, "source": "none"} | more


def after(*ticks: tuple[int, list[dict]]) -> list[tuple[int, int, bool]]:
    columns = None
    for number, brokers in ticks:
        columns = TickColumns.of(make_tick(number, brokers=brokers), columns)
    assert columns is not None
    return [(each.at_ms, each.broker, each.is_up) for each in columns.broker_changes]


def test_a_broker_that_left_and_came_back_is_known_with_both_times():
    up, down = broker(1, up=True), broker(1, up=False, down_since_ms=7)
    other = broker(2, up=True)
    found = after((1, [up, other]), (2, [down, other]), (3, [down, other]), (4, [up, other]))
    assert [(number, is_up) for _, number, is_up in found] == [(1, False), (1, True)]
    assert found[0][0] == 7
    assert found[1][0] == make_tick(4).at_ms


def test_a_new_broker_and_the_first_tick_are_no_change():
    assert after((1, [broker(1, up=False)])) == []
    assert after((1, [broker(1, up=True)]), (2, [broker(1, up=True), broker(2, up=True)])) == []


def test_old_changes_are_dropped():
    up, down = [broker(1, up=True)], [broker(1, up=False)]
    later = 3 + RETENTION_MS // INTERVAL_MS
    assert len(after((1, up), (2, down), (3, up), (later, up))) == 1
    flapping = [(number, up if number % 2 else down) for number in range(1, 3 * CHANGES_MAX)]
    assert len(after(*flapping)) == CHANGES_MAX
