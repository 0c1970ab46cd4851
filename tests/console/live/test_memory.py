"""What a large cluster took is given back; what many samples take at a time is bounded."""

import weakref

from console.accounts.rights import Rights
from console.live import snapshot_cache
from monitoring import process_memory, redis_keys
from monitoring.ticks import tick_stream
from tests.console.conftest import sample, tick_now

ADMIN = Rights("local", "admin")


def test_a_removed_cluster_leaves_no_snapshot_in_the_process(redis_server, monkeypatch):
    released = []
    monkeypatch.setattr(process_memory, "release", lambda: released.append(True))
    sample()
    shown = weakref.ref(snapshot_cache.snapshot("local", ADMIN))
    snapshot_cache.forget("local")
    assert shown() is None
    assert released


def test_an_unused_cluster_is_dropped_from_the_cache(redis_server, monkeypatch):
    sample()
    shown = weakref.ref(snapshot_cache.snapshot("local", ADMIN))
    monkeypatch.setattr(snapshot_cache, "IDLE_SECONDS", -1.0)
    snapshot_cache.sample_status("staging")
    assert shown() is None


def test_samples_are_read_in_pieces_and_none_is_left_out(redis_server, monkeypatch):
    first = tick_now() - 20
    for number in range(first, first + 20):
        sample(number=number)
    asked = []
    with_count = redis_server.client().xrange(redis_keys.ticks("local"), count=1)
    monkeypatch.setattr(tick_stream, "_CHUNK_BYTES", 3 * sum(map(len, with_count[0][1].values())))
    quick = tick_stream.redis_client.quick

    def counted():
        asked.append(True)
        return quick()

    monkeypatch.setattr(tick_stream.redis_client, "quick", counted)
    assert [t.tick for t in tick_stream.recent_ticks("local", 0)] == list(range(first, first + 20))
    assert len(asked) >= 20 // 4
