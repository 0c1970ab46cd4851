"""What happened between two ticks is stored once, and only so much of it."""

import logging

import pytest
from django.db import OperationalError, connection

from monitoring.cluster_events import store_events
from monitoring.cluster_events.store_events import store
from monitoring.models import Cluster, ClusterEvent
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def local(db):
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


def a_tick(number: int, members: int = 1, groups: int = 1, *, up: bool = True, **more: object):
    rows = [
        {"group": f"g{group}", "topic": "t", "partition": 0, "members": members,
         "member_id": f"m{members}"}
        for group in range(groups)
    ]  # fmt: skip
    brokers = [{"id": 1, "host": "h", "port": 1, "up": up, "source": "none"}]
    return make_tick(number, groups=rows, brokers=brokers, **more)


def stored() -> list[tuple]:
    rows = ClusterEvent.objects.order_by("pk")
    return list(rows.values_list("kind", "name", "at_ms", "members_before", "members", "moved"))


def test_brokers_and_rebalances_are_stored_with_their_time_and_counts(local):
    tick = a_tick(2, 3, up=False)
    store(tick, a_tick(1))
    assert stored() == [
        ("broker_left", "1", tick.at_ms, None, None, None),
        ("rebalance", "g0", tick.at_ms, 1, 3, 1),
    ]


def test_a_tick_that_two_workers_compare_is_stored_once(local):
    for _worker in range(2):
        store(a_tick(2, 3), a_tick(1))
    assert len(stored()) == 1


def test_nothing_is_stored_without_two_samples_of_the_same_cluster(local):
    store(a_tick(2, 3), None)
    store(make_tick(2, status="gap"), a_tick(1))
    store(a_tick(2, 3, cluster_id="another"), a_tick(1))
    store(a_tick(2), a_tick(1))
    assert stored() == []


def test_a_cluster_that_was_removed_has_no_events(db):
    store(a_tick(2, 3), a_tick(1))
    assert stored() == []


def test_a_name_that_the_database_cannot_store_is_left_out(local):
    def named(number: int, members: int):
        row = {"topic": "t", "partition": 0, "members": members}
        names = ("g" * 256, "g\x00", "g" * 255)
        return make_tick(number, groups=[row | {"group": name} for name in names])

    store(named(2, 2), named(1, 1))
    assert [name for _kind, name, *_ in stored()] == ["g" * 255]


def test_only_the_newest_events_of_a_cluster_are_kept(local, monkeypatch):
    other = Cluster.objects.create(slug="other", name="Other", bootstrap_servers="127.0.0.1:1")
    ClusterEvent.objects.create(cluster=other, tick=1, at_ms=1, kind="rebalance", name="g")
    monkeypatch.setattr(store_events, "EVENTS_MAX", 3)
    for number in range(1, 6):
        store(a_tick(number + 1, number + 1), a_tick(number, number))
    kept = ClusterEvent.objects.filter(cluster=local).order_by("tick")
    assert list(kept.values_list("tick", flat=True)) == [4, 5, 6]
    assert ClusterEvent.objects.filter(cluster=other).count() == 1


def test_of_many_rebalances_of_a_group_the_newest_of_the_day_are_kept_and_the_rest_counted(
    local, monkeypatch
):
    monkeypatch.setattr(store_events, "REBALANCES_OF_DAY_MAX", 5)
    monkeypatch.setattr(store_events, "REBALANCES_OF_DAY_KEPT", 2)
    for number in range(10, 21):
        store(a_tick(number + 1, number + 1), a_tick(number, number))
    rows = ClusterEvent.objects.filter(cluster=local).order_by("tick")
    found = list(rows.values_list("kind", "tick", "count"))
    assert found == [("rebalances", 19, 9), ("rebalance", 20, None), ("rebalance", 21, None)]
    assert rows[0].at_ms == a_tick(19).at_ms
    # A tick that two workers compare is not counted twice.
    store(a_tick(21, 21), a_tick(20, 20))
    assert list(rows.values_list("kind", "tick", "count")) == found


def test_other_groups_and_days_have_bounds_of_their_own(local, monkeypatch):
    monkeypatch.setattr(store_events, "REBALANCES_OF_DAY_MAX", 3)
    monkeypatch.setattr(store_events, "REBALANCES_OF_DAY_KEPT", 1)
    day = 86_400_000 // INTERVAL_MS
    for number in (10 * day, 10 * day + 1, 11 * day, 11 * day + 1):
        store(a_tick(number, number, groups=2), a_tick(number - 1, number - 1, groups=2))
    rows = ClusterEvent.objects.filter(cluster=local)
    assert rows.filter(kind="rebalance").count() == 8
    store(a_tick(11 * day + 2, 3), a_tick(11 * day + 1, 2))
    assert rows.filter(name="g1", kind="rebalance").count() == 4
    of_group = rows.filter(name="g0").order_by("tick")
    assert list(of_group.values_list("tick", "kind", "count")) == [
        (10 * day, "rebalance", None), (10 * day + 1, "rebalance", None),
        (11 * day + 1, "rebalances", 2), (11 * day + 2, "rebalance", None),
    ]  # fmt: skip


def test_of_one_tick_only_so_many_events_are_stored_and_the_rest_is_logged(
    local, monkeypatch, caplog
):
    monkeypatch.setattr(store_events, "EVENTS_OF_TICK_MAX", 3)
    with caplog.at_level(logging.WARNING):
        store(a_tick(2, 2, groups=5, up=False), a_tick(1, groups=5))
    assert [kind for kind, *_ in stored()] == ["broker_left", "rebalance", "rebalance"]
    assert "3 events of tick 2 of local are not stored" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_an_error_of_the_database_is_logged_and_not_raised(local, caplog):
    with connection.execute_wrapper(_refuse):
        store(a_tick(2, 3), a_tick(1))
    assert "the events of tick 2 of local are lost: it is locked" in caplog.text


def _refuse(*_arguments: object) -> None:
    raise OperationalError("it is locked")
