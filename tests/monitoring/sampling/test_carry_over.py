"""The data that a tick carries over from the previous one."""

from dataclasses import replace

import pytest

from monitoring.alerts.lag_condition import Subject
from monitoring.alerts.lags_for_rules import rule_input_of
from monitoring.gateway.wire import response_limits
from monitoring.sampling.carry_over import carry_over, partition_for
from monitoring.ticks.tick import Tick
from tests.monitoring.tick_factory import make_tick

UP = {"host": "10.0.0.1", "port": 9092, "rack": "a", "up": True}
GONE = {"host": None, "port": None, "rack": None, "up": False}


def offsets(*leaders: int) -> list[dict]:
    return [
        {"topic": "__consumer_offsets", "partition": number, "leader": leader}
        for number, leader in enumerate(leaders)
    ]


def group(name: str, coordinator: int, **changes: object) -> dict:
    return {
        "group": name, "state": "Stable", "coordinator": coordinator, "members": 1, "topic": "a",
        "partition": 0, "committed_offset": 4, "log_end_offset": 10, **changes,
    }  # fmt: skip


def groups_of(tick: Tick) -> dict[str, dict]:
    return {row["group"]: row for row in tick.groups.to_pylist()}


# "alpha" is kept in partition 0 of two, "kilo" in partition 1 (see the test of partition_for).
BEFORE = make_tick(
    1, partitions=offsets(1, 2), groups=[group("alpha", 1), group("kilo", 2)], cluster_id="c"
)


def silent(number: int = 2, leader: int = -1) -> Tick:
    """Broker 2, which coordinates kilo, does not tell."""
    return make_tick(
        number, partitions=offsets(1, leader), groups=[group("alpha", 1)], groups_complete=False,
        cluster_id="c",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "count", "partition"),
    [("alpha", 2, 0), ("kilo", 2, 1), ("billing", 50, 9), ("grüße😀", 50, 40), ("", 50, 0)],
)
def test_partition_for_equals_kafkas_choice(name, count, partition):
    assert partition_for(name, count) == partition


def test_groups_of_a_silent_coordinator_keep_their_last_rows():
    found = groups_of(carry_over(silent(), BEFORE, {1}))
    assert found["alpha"]["reported_at_ms"] is None
    kilo = found["kilo"]
    assert (kilo["state"], kilo["members"], kilo["committed_offset"]) == ("Stable", 1, 4)
    assert kilo["log_end_offset"] is None
    assert (kilo["tick"], kilo["reported_at_ms"]) == (2, BEFORE.at_ms)


def test_groups_of_a_silent_coordinator_are_left_out_if_the_table_is_full(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_ROWS_MAX", 1)
    tick = carry_over(silent(), BEFORE, {1})
    assert set(groups_of(tick)) == {"alpha"}
    assert not tick.groups_complete
    assert tick.invalid == ["groups whose coordinators do not answer, which are too many"]


def test_groups_of_a_silent_coordinator_keep_the_time_of_their_rows():
    tick = BEFORE
    for number in range(2, 40):
        tick = carry_over(silent(number), tick, {1})
    assert groups_of(tick)["kilo"]["reported_at_ms"] == BEFORE.at_ms


def test_a_group_that_its_coordinator_no_longer_lists_is_gone():
    told = replace(silent(leader=2), groups_complete=True)
    assert set(groups_of(carry_over(told, BEFORE, {1, 2}))) == {"alpha"}


def test_a_group_that_moves_stays_until_the_new_coordinator_has_loaded_it():
    moved = replace(silent(leader=1), groups_complete=True)
    first = carry_over(moved, BEFORE, {1})
    assert "kilo" in groups_of(first)
    assert not first.groups_complete
    later = carry_over(replace(silent(9, leader=1), groups_complete=True), first, {1})
    assert set(groups_of(later)) == {"alpha"}


def test_a_group_that_is_listed_again_has_its_current_rows():
    back = make_tick(
        3, partitions=offsets(1, 2), cluster_id="c",
        groups=[group("alpha", 1), group("kilo", 2, committed_offset=10)],
    )  # fmt: skip
    kilo = groups_of(carry_over(back, carry_over(silent(), BEFORE, {1}), {1, 2}))["kilo"]
    assert (kilo["committed_offset"], kilo["reported_at_ms"]) == (10, None)


def test_nothing_is_carried_over_from_another_cluster():
    other = replace(BEFORE, cluster_id="another")
    assert set(groups_of(carry_over(silent(), other, {1}))) == {"alpha"}


def test_an_alert_rule_sees_a_carried_group_as_unknown_and_not_as_gone():
    known = [{"topic": "a", "partition": 0, "leader": 1}]
    tick = carry_over(silent(), BEFORE, {1})
    view = rule_input_of(
        replace(tick, partitions=make_tick(2, partitions=known).partitions), with_topics=False
    )
    assert view.groups[Subject("kilo")].lag is None
    assert not view.groups[Subject("kilo")].complete


def test_a_broker_that_is_down_keeps_its_address_and_since_when():
    tick = make_tick(1, brokers=[{"id": 2, **UP}])
    for number in (2, 3):
        tick = carry_over(make_tick(number, brokers=[{"id": 2, **GONE}]), tick, set())
    (broker,) = tick.brokers
    assert (broker["host"], broker["port"], broker["rack"]) == ("10.0.0.1", 9092, "a")
    assert broker["down_since_ms"] == make_tick(2).at_ms


def test_a_broker_that_was_never_seen_has_no_address():
    (broker,) = carry_over(make_tick(2, brokers=[{"id": 2, **GONE}]), None, set()).brokers
    assert (broker["host"], broker["port"]) == (None, None)
    assert broker["down_since_ms"] == make_tick(2).at_ms


def test_a_problem_keeps_the_time_when_it_began():
    first = carry_over(
        make_tick(2, partitions=offsets(1, -1), zookeeper_up=False), make_tick(1), {1}
    )
    at_ms = make_tick(2).at_ms
    assert first.since == {"leaderless": at_ms, "zookeeper": at_ms}
    second = carry_over(make_tick(3, partitions=offsets(1, -1), zookeeper_up=True), first, {1})
    assert second.since == {"leaderless": at_ms}
    assert carry_over(make_tick(4, partitions=offsets(1, 2)), second, {1, 2}).since == {}
