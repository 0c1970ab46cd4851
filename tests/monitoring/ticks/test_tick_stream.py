import random
import string

import pytest

from monitoring import redis_client
from monitoring.ticks import tick_stream
from monitoring.ticks.tick_stream import LIVE_MS, NOT_RUN, put_tick, record_skip_reason
from tests.monitoring.tick_factory import INTERVAL_MS, make_tick


def test_nothing_sampled_is_none(redis_server):
    assert tick_stream.latest_tick("local") is None
    assert tick_stream.last_ok_tick("local") is None
    assert tick_stream.ticks_after("local", 0, 5) == []
    assert list(tick_stream.recent_ticks("local", 0)) == []


def test_the_latest_tick_is_what_was_put(redis_server):
    tick = make_tick(10, partitions=[{"topic": "a", "partition": 0}])
    assert put_tick(tick)
    assert tick_stream.latest_tick("local") == tick
    assert tick_stream.last_ok_tick("local") == tick


def test_the_same_tick_twice_is_kept_once(redis_server):
    assert put_tick(make_tick(10))
    assert not put_tick(make_tick(10))
    assert len(list(tick_stream.recent_ticks("local", 0))) == 1


def test_a_late_tick_cannot_overtake_a_newer_one(redis_server):
    assert put_tick(make_tick(11))
    assert not put_tick(make_tick(10))
    assert [tick.tick for tick in tick_stream.recent_ticks("local", 0)] == [11]


def test_ticks_that_did_not_run_become_gaps_with_their_reason(redis_server):
    put_tick(make_tick(10))
    record_skip_reason("local", 12, "the tick before was still running")
    put_tick(make_tick(13))
    ticks = list(tick_stream.recent_ticks("local", 0))
    assert [(tick.tick, tick.status, tick.reason) for tick in ticks] == [
        (10, "ok", ""),
        (11, "gap", NOT_RUN),
        (12, "gap", "the tick before was still running"),
        (13, "ok", ""),
    ]


def test_a_gap_does_not_hide_the_last_good_tick(redis_server):
    put_tick(make_tick(10))
    put_tick(make_tick(11, status="gap", reason="no broker answered"))
    assert tick_stream.latest_tick("local").reason == "no broker answered"
    assert tick_stream.last_ok_tick("local").tick == 10


def test_the_stream_holds_fifteen_minutes_and_gaps_are_bounded_by_it(redis_server):
    put_tick(make_tick(10))
    window = LIVE_MS // INTERVAL_MS
    put_tick(make_tick(10 + 5 * window))
    ticks = list(tick_stream.recent_ticks("local", 0))
    assert len(ticks) == window + 1
    assert ticks[0].tick == 10 + 4 * window


def test_the_stream_holds_no_more_bytes_than_its_share_and_the_oldest_go_first(
    redis_server, settings
):
    settings.AERIE_LIVE_BYTES_MAX = 200_000
    noise = random.Random(1)
    for number in range(10, 40):
        name = "".join(noise.choices(string.ascii_letters, k=30_000 if number < 20 else 15_000))
        put_tick(make_tick(number, partitions=[{"topic": name, "partition": 0}]))
        held = redis_server.client().memory_usage("aerie:local:ticks", samples=0)
        assert held <= settings.AERIE_LIVE_BYTES_MAX
    kept = [tick.tick for tick in tick_stream.recent_ticks("local", 0)]
    assert kept == list(range(kept[0], 40))
    assert len(kept) > 3


def test_the_newest_sample_stays_whatever_its_size(redis_server, settings):
    settings.AERIE_LIVE_BYTES_MAX = 1
    for number in (10, 11):
        put_tick(make_tick(number, partitions=[{"topic": "a", "partition": 0}]))
    assert [tick.tick for tick in tick_stream.recent_ticks("local", 0)] == [11]
    assert tick_stream.last_ok_tick("local").tick == 11


def test_clusters_do_not_see_each_other(redis_server):
    put_tick(make_tick(10, cluster="one"))
    assert tick_stream.latest_tick("two") is None


def test_what_is_newer_than_a_tick_is_reported_oldest_first_and_bounded(redis_server):
    ticks = [make_tick(number) for number in (10, 11, 12, 13)]
    for tick in ticks:
        put_tick(tick)
    assert tick_stream.ticks_after("local", ticks[1].start_ms, 5) == ticks[2:]
    assert tick_stream.ticks_after("local", ticks[0].start_ms, 2) == ticks[1:3]
    assert tick_stream.ticks_after("local", ticks[3].start_ms, 5) == []


def test_recent_ticks_start_at_the_time_asked_for(redis_server):
    for number in (10, 11, 12):
        put_tick(make_tick(number))
    ticks = tick_stream.recent_ticks("local", since_ms=11 * INTERVAL_MS)
    assert [tick.tick for tick in ticks] == [11, 12]


def test_a_redis_that_is_gone_is_reported_and_comes_back(redis_server):
    put_tick(make_tick(10))
    redis_server.kill()
    with pytest.raises(redis_client.RedisDown, match="Redis cannot be reached"):
        tick_stream.latest_tick("local")
    redis_server.start()
    assert tick_stream.latest_tick("local").tick == 10


def test_a_redis_that_hangs_is_waited_for_once_and_not_at_every_read(redis_server):
    put_tick(make_tick(10))
    tick_stream.latest_tick("local")
    with redis_server.hung():
        with pytest.raises(redis_client.RedisDown, match="Redis cannot be reached"):
            tick_stream.latest_tick("local")
        with pytest.raises(redis_client.RedisDown, match="a moment ago"):
            list(tick_stream.recent_ticks("another", 0))
    redis_client.reset_backoff()
    assert tick_stream.latest_tick("local").tick == 10
