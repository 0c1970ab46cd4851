"""Brokers that leave and come back are found by comparing ticks."""

from itertools import pairwise

from monitoring.cluster_events.broker_changes import broker_changes
from tests.monitoring.tick_factory import make_tick


def broker(number: int, *, up: bool, **more: int) -> dict:
    return {"id": number, "host": "h", "port": 9092, "up": up, "source": "none"} | more


def after(*ticks: tuple[int, list[dict]]) -> list[tuple[int, int, bool]]:
    made = [make_tick(number, brokers=brokers) for number, brokers in ticks]
    return [
        (each.at_ms, each.broker, each.is_up)
        for previous, tick in pairwise(made)
        for each in broker_changes(tick, previous)
    ]


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
