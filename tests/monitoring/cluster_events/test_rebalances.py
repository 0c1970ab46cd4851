"""Rebalances between ticks, also when rows come and go."""

from itertools import pairwise
from typing import Any

from monitoring.cluster_events.rebalances import rebalances
from tests.monitoring.tick_factory import make_tick


def row(partition: int, member: str | None, members: int, group: str = "g") -> dict[str, Any]:
    return {
        "group": group, "topic": "orders", "partition": partition, "members": members,
        "committed_offset": 1, "log_end_offset": 1, "member_id": member,
    }  # fmt: skip


def after(*ticks: list[dict[str, Any]]) -> dict[str, list[tuple[int, int, int]]]:
    """Group → (members before, members, moved partitions) of its rebalances."""
    made = [make_tick(number + 1, groups=rows) for number, rows in enumerate(ticks)]
    found: dict[str, list[tuple[int, int, int]]] = {}
    for previous, tick in pairwise(made):
        for group, each in rebalances(tick, previous).items():
            found.setdefault(group, []).append((each.members_before, each.members, each.moved))
    return found


def test_a_member_that_joins_takes_partitions():
    one = [row(0, "a", 1), row(1, "a", 1)]
    two = [row(0, "a", 2), row(1, "b", 2)]
    assert after(one, one, two, two) == {"g": [(1, 2, 1)]}


def test_a_group_that_loses_its_members_has_moved_all():
    assert after([row(0, "a", 1), row(1, "a", 1)], [row(0, None, 0), row(1, None, 0)]) == {
        "g": [(1, 0, 2)]
    }


def test_partitions_that_are_added_or_in_another_order_are_compared_with_their_own_past():
    one = [row(0, "a", 2), row(1, "b", 2)]
    other = [row(5, "x", 1, group="a"), row(2, "b", 2), row(1, "b", 2), row(0, "a", 2)]
    assert after(one, other) == {"g": [(2, 2, 1)]}


def test_a_new_group_and_an_unknown_number_of_members_are_no_rebalance():
    assert after([row(0, "a", 1)], [row(0, "a", 1), row(0, "b", 1, group="new")]) == {}
    unknown = [row(0, "a", 1) | {"members": None}]
    assert after([row(0, "a", 1)], unknown) == {}
    assert after([], [row(0, "a", 1)]) == {}


def test_each_of_several_rebalances_is_found():
    ticks = [[row(0, "ab"[number % 2], 1)] for number in range(5)]
    assert after(*ticks) == {"g": [(1, 1, 1)] * 4}
