"""Frees memory of Redis by deleting old samples, when it is full.

At `maxmemory` Redis refuses writes but accepts deletes. Samples are normally trimmed when a new one
is written, so without writes the memory would never be freed. First, samples outside the live
window are deleted; if that is not enough, all older than _KEPT_MS, which the history has already;
then the older half of the largest stream, repeatedly.
"""

import logging

import redis

from monitoring import redis_client, redis_keys
from monitoring.clock import now_ms
from monitoring.ticks.tick_stream import LIVE_MS

_KEPT_MS = 150_000  # the history has older samples: it is flushed each minute
_HALVINGS_MAX = 20
_PROBE_KEY = "aerie:write-probe"

log = logging.getLogger(__name__)


def free_redis_memory() -> None:
    """Delete old samples of every cluster until Redis accepts writes again. Raises RedisDown."""
    with redis_client.guarded() as client:
        streams = list(client.scan_iter(match=redis_keys.ticks("*"), count=1000))
        before = sum(client.xlen(stream) for stream in streams)
        for stream in streams:
            client.xtrim(stream, minid=max(now_ms() - LIVE_MS, 0), approximate=False)
        if not _accepts_writes():
            for stream in streams:
                newest = redis_client.stream_entries(client.xrevrange(stream, count=1))
                newest_ms = int(newest[0][0].split(b"-")[0]) if newest else 0
                client.xtrim(stream, minid=max(newest_ms - _KEPT_MS, 0), approximate=False)
        for _ in range(_HALVINGS_MAX):
            if _accepts_writes():
                break
            _halve_largest(client, streams)
        deleted = before - sum(client.xlen(stream) for stream in streams)
    log.error(
        "Redis is full (maxmemory): %d old samples were deleted. Monitor fewer "
        "partitions, or set REDIS_URL to a larger Redis",
        deleted,
    )


def _halve_largest(client: redis.Redis, streams: list[bytes]) -> None:
    largest = max(streams, key=lambda stream: client.memory_usage(stream) or 0, default=None)
    if largest is not None:
        count = client.xlen(largest)
        client.xtrim(largest, maxlen=max(1, count // 2), approximate=False)


def _accepts_writes() -> bool:
    try:
        with redis_client.guarded() as client:
            client.set(_PROBE_KEY, 1, px=1)
    except redis_client.RedisFull:
        return False
    return True
