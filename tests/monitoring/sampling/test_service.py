"""A whole tick on a real cluster, real Redis and a real channel layer."""

import pytest
from channels.layers import get_channel_layer

from monitoring.gateway import loop
from monitoring.lock import held
from monitoring.models import Cluster
from monitoring.sampling import live, tasks
from monitoring.sampling.sampler import Target
from monitoring.sampling.service import sample_cluster

INTERVAL_MS = 5000
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_tick_is_stored_and_announced(live_cluster, redis_server):
    layer = get_channel_layer()

    async def listen():
        name = await layer.new_channel()
        await layer.group_add("tick.live", name)
        return name

    channel = loop.run(listen(), 5)
    sample_cluster(Target.of(live_cluster.row()), 1000, INTERVAL_MS)
    tick = live.latest_tick("live")
    assert (tick.tick, tick.ok, tick.reason) == (1000, True, "")
    assert {row["id"]: row["source"] for row in tick.brokers} == {1: "brokerd", 2: "brokerd"}
    notice = loop.run(layer.receive(channel), 5)
    assert notice == {"type": "tick", "cluster": "live", "tick": 1000}


def test_the_same_tick_sent_by_two_beats_is_sampled_once(live_cluster, redis_server):
    target = Target.of(live_cluster.row())
    assert sample_cluster(target, 1000, INTERVAL_MS) is not None
    assert sample_cluster(target, 1000, INTERVAL_MS) is None
    assert len(live.recent_ticks("live", 0)) == 1


def test_a_tick_that_finds_the_one_before_running_becomes_a_gap(live_cluster, redis_server):
    target = Target.of(live_cluster.row())
    sample_cluster(target, 1000, INTERVAL_MS)
    with held("aerie:live:sampling", "1001", INTERVAL_MS):
        assert sample_cluster(target, 1002, INTERVAL_MS) is None
    sample_cluster(target, 1003, INTERVAL_MS)
    told = {tick.tick: tick.reason for tick in live.recent_ticks("live", 0) if not tick.ok}
    assert "still being read" in told[1002]


def test_a_cluster_that_is_down_is_a_gap_with_its_reason_and_delays_no_other(
    live_cluster, redis_server, settings
):
    settings.AERIE_TICK_SECONDS = 5
    live_cluster.row("live").save()
    Cluster(slug="down", name="Down", bootstrap_servers="127.0.0.1:1").save()
    Cluster(slug="odd", name="Odd", bootstrap_servers="not an address").save()
    tasks.sample(1000)
    assert live.latest_tick("live").ok
    down = live.latest_tick("down")
    assert (down.status, down.partitions.num_rows) == ("gap", 0)
    assert "127.0.0.1:1" in down.reason
    assert live.latest_tick("odd") is None


def test_redis_away_loses_the_tick_and_nothing_else(live_cluster, redis_server):
    target = Target.of(live_cluster.row())
    sample_cluster(target, 1000, INTERVAL_MS)
    redis_server.kill()
    assert sample_cluster(target, 1001, INTERVAL_MS) is None
    redis_server.start()
    assert sample_cluster(target, 1002, INTERVAL_MS) is not None
    assert [(t.tick, t.ok) for t in live.recent_ticks("live", 0)] == [
        (1000, True),
        (1001, False),
        (1002, True),
    ]
