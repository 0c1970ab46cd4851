"""A whole tick on a real cluster, real Redis and a real channel layer."""

import itertools
import os
import time
from dataclasses import replace

import pytest
from channels.layers import get_channel_layer

from monitoring import redis_client
from monitoring.gateway import event_loop
from monitoring.gateway.wire import response_limits
from monitoring.models import Cluster, ClusterEvent
from monitoring.read_model.snapshot import Snapshot
from monitoring.redis_lock import try_lock
from monitoring.sampling import tasks, time_limits
from monitoring.sampling.reader_pool import SamplingTarget
from monitoring.sampling.sample_cluster import readers, sample_cluster
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick
from tests.monitoring.gateway.wire.test_hostile import ONE
from tests.monitoring.gateway.wire.test_hostile import cluster as lying
from tests.support.hostile_broker import hostile_broker
from tests.support.waiting import wait_until

INTERVAL_MS = 20_000  # the time limits of a read are shares of it
PATIENCE_S = 30.0
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def long_timeouts(monkeypatch):
    """What is in memory or on this machine may take long on a busy one."""
    monkeypatch.setattr(redis_client, "_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(redis_client, "_QUICK_TIMEOUT_S", PATIENCE_S)
    monkeypatch.setattr(time_limits, "NOTIFY_S", PATIENCE_S)
    redis_client.reset_backoff()


def test_a_tick_is_stored_and_announced(live_cluster, redis_server):
    layer = get_channel_layer()

    async def listen():
        name = await layer.new_channel()
        await layer.group_add("tick.live", name)
        return name

    channel = event_loop.run(listen(), PATIENCE_S)
    sample_cluster(SamplingTarget.of(live_cluster.row()), 1000, INTERVAL_MS)
    tick = tick_stream.latest_tick("live")
    assert (tick.tick, tick.ok, tick.reason) == (1000, True, "")
    assert {row["id"]: row["source"] for row in tick.brokers} == {1: "brokerd", 2: "brokerd"}
    notice = event_loop.run(layer.receive(channel), PATIENCE_S)
    assert notice == {"type": "tick", "cluster": "live", "tick": 1000}


@pytest.mark.parametrize("is_same_worker", [True, False])
def test_what_happened_since_the_last_tick_is_stored_once(
    live_cluster, redis_server, is_same_worker
):
    live_cluster.row().save()
    target = SamplingTarget.of(live_cluster.row())
    first = sample_cluster(target, 1000, INTERVAL_MS)
    down = replace(first, tick=1001, brokers=[row | {"up": False} for row in first.brokers])
    tick_stream.put_tick(down)
    readers.last_ticks.clear()
    if is_same_worker:
        readers.last_ticks["live"] = down
    for number in (1002, 1002, 1003):
        sample_cluster(target, number, INTERVAL_MS)
    events = ClusterEvent.objects.order_by("name").values_list("tick", "kind", "name")
    assert list(events) == [(1002, "broker_back", "1"), (1002, "broker_back", "2")]


def test_the_same_tick_sent_by_two_beats_is_sampled_once(live_cluster, redis_server):
    target = SamplingTarget.of(live_cluster.row())
    assert sample_cluster(target, 1000, INTERVAL_MS) is not None
    assert sample_cluster(target, 1000, INTERVAL_MS) is None
    assert len(list(tick_stream.recent_ticks("live", 0))) == 1


def test_a_tick_is_a_gap_while_the_previous_one_is_being_read(live_cluster, redis_server):
    target = SamplingTarget.of(live_cluster.row())
    sample_cluster(target, 1000, INTERVAL_MS)
    with try_lock("aerie:live:sampling", "1001", INTERVAL_MS):
        assert sample_cluster(target, 1002, INTERVAL_MS) is None
    sample_cluster(target, 1003, INTERVAL_MS)
    told = {tick.tick: tick.reason for tick in tick_stream.recent_ticks("live", 0) if not tick.ok}
    assert "still being read" in told[1002]


def test_a_cluster_that_is_down_is_a_gap_with_its_reason_and_delays_no_other(
    live_cluster, redis_server, settings
):
    settings.AERIE_TICK_SECONDS = INTERVAL_MS // 1000
    live_cluster.row("live").save()
    Cluster(slug="down", name="Down", bootstrap_servers="127.0.0.1:1").save()
    Cluster(slug="odd", name="Odd", bootstrap_servers="not an address").save()
    tasks.sample(1000)
    assert tick_stream.latest_tick("live").ok
    down = tick_stream.latest_tick("down")
    assert (down.status, down.partitions.num_rows) == ("gap", 0)
    assert "127.0.0.1:1" in down.reason
    assert tick_stream.latest_tick("odd") is None


def test_a_sample_stores_the_kafka_cluster_id(live_cluster, redis_server, settings):
    settings.AERIE_TICK_SECONDS = INTERVAL_MS // 1000
    live_cluster.row("live").save()
    numbers = itertools.count(1000)

    def noted() -> str:
        tasks.sample(next(numbers))
        return Cluster.objects.get().kafka_cluster_id

    assert wait_until(noted) == live_cluster.gateway().wire.cluster_id()


def test_a_tick_that_cannot_be_stored_frees_memory_in_redis(live_cluster, redis_server):
    target, client = SamplingTarget.of(live_cluster.row()), redis_server.client()
    for number in range(4):  # samples of another cluster, long out of the live window
        client.xadd("aerie:other:ticks", {"meta": os.urandom(1 << 20)}, id=f"{1000 + number}-0")
    try:
        client.config_set("maxmemory", int(client.info("memory")["used_memory"]) - (1 << 20))
        assert sample_cluster(target, 1000, INTERVAL_MS) is None
        assert client.xlen("aerie:other:ticks") == 0
        assert sample_cluster(target, 1001, INTERVAL_MS) is not None
    finally:
        client.config_set("maxmemory", 0)


def test_if_redis_is_down_only_the_tick_is_lost(live_cluster, redis_server):
    target = SamplingTarget.of(live_cluster.row())
    sample_cluster(target, 1000, INTERVAL_MS)
    redis_server.kill()
    assert sample_cluster(target, 1001, INTERVAL_MS) is None
    redis_server.start()
    redis_client.reset_backoff()
    assert sample_cluster(target, 1002, INTERVAL_MS) is not None
    assert [(t.tick, t.ok) for t in tick_stream.recent_ticks("live", 0)] == [
        (1000, True),
        (1001, False),
        (1002, True),
    ]


def test_groups_address_and_sums_survive_the_death_of_a_broker(live_cluster, redis_server):
    if "two.sided" not in live_cluster.gateway().wire.metadata().topics:
        live_cluster.create_topic("two.sided", 4)
    live_cluster.produce("two.sided", dict.fromkeys(range(4), 3))
    names = {f"sided-{number}" for number in range(8)}
    for name in names:
        live_cluster.commit(name, "two.sided", dict.fromkeys(range(4), 1))
    target, numbers = SamplingTarget.of(live_cluster.row()), itertools.count(1000)

    def sampled_until(reached) -> Tick:
        deadline = time.monotonic() + 60
        while True:
            tick = sample_cluster(target, next(numbers), INTERVAL_MS)
            if tick is not None and tick.ok and reached(tick):
                return tick
            assert time.monotonic() < deadline, tick
            time.sleep(0.2)

    def silent(tick: Tick) -> set[str]:
        return {row["group"] for row in tick.groups.to_pylist() if row["reported_at_ms"]} & names

    before = sampled_until(lambda tick: names <= set(tick.groups["group"].to_pylist()))
    assert before.groups_complete
    assert silent(before) == set()
    dead = live_cluster.brokerd.brokers[1]
    its_own = {r["group"] for r in before.groups.to_pylist() if r["coordinator"] == dead.id}
    dead.kill()
    try:
        after = sampled_until(lambda tick: "leaderless" in tick.since)
        assert silent(after) == its_own & names != set()
        assert names <= set(after.groups["group"].to_pylist())
        rows = [row for row in after.groups.to_pylist() if row["group"] in its_own & names]
        assert all(row["log_end_offset"] is None and row["committed_offset"] == 1 for row in rows)
        broker = next(row for row in after.brokers if row["id"] == dead.id)
        assert (broker["up"], broker["host"], broker["port"]) == (False, "127.0.0.1", dead.port)
        assert broker["down_since_ms"] <= after.since["leaderless"] <= after.at_ms
        shown = Snapshot.of(after, before)
        topic = shown.topic("two.sided")
        assert topic.offset_count.is_partial
        assert topic.offset_count.missing == sum(
            row.leader < 0 for row in shown.partitions("two.sided")
        )
        assert shown.totals.lag.is_partial
        assert shown.totals.disk_bytes.is_partial
    finally:
        dead.start()
    back = sampled_until(lambda tick: tick.groups_complete and not tick.since)
    assert silent(back) == set()
    assert not Snapshot.of(back, after).totals.lag.is_partial


def test_a_zookeeper_that_is_down_is_reported_with_since_when(live_cluster, redis_server):
    gone = live_cluster.row(zookeeper_connect="127.0.0.1:1/live")
    first = sample_cluster(SamplingTarget.of(gone), 1000, INTERVAL_MS)
    second = sample_cluster(SamplingTarget.of(gone), 1001, INTERVAL_MS)
    assert first.since == second.since == {"zookeeper": first.at_ms}
    third = sample_cluster(SamplingTarget.of(live_cluster.row()), 1002, INTERVAL_MS)
    assert (third.zookeeper_up, third.since) == (True, {})


def test_invalid_values_of_a_cluster_are_listed_in_the_tick(redis_server):
    with hostile_broker(lying({"a": {20_000_000: ONE}})) as port:
        row = Cluster(slug="liar", name="Liar", bootstrap_servers=f"127.0.0.1:{port}")
        tick = sample_cluster(SamplingTarget.of(row), 1000, INTERVAL_MS)
    assert tick.ok
    assert tick.partitions.num_rows == 1
    assert tick_stream.latest_tick("liar").invalid == tick.invalid != []


def test_a_cluster_of_too_many_partitions_is_a_gap_that_says_so(redis_server, monkeypatch):
    monkeypatch.setattr(response_limits, "PARTITIONS_MAX", 1)
    with hostile_broker(lying({"a": {0: ONE, 1: ONE}})) as port:
        row = Cluster(slug="vast", name="Vast", bootstrap_servers=f"127.0.0.1:{port}")
        tick = sample_cluster(SamplingTarget.of(row), 1000, INTERVAL_MS)
    assert tick.status == "gap"
    assert tick.reason == (
        "the cluster's answer was refused: more than 1 partitions; Aerie reads no more"
    )
