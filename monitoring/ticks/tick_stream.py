"""The live window: the ticks of the last 15 minutes, one Redis stream per cluster.

The entry id is `<start_ms>-0`, so Redis refuses a tick that is not newer than the last one: a late
or second sampler cannot overwrite it. Ticks that were not sampled become gaps when the next tick is
written, with the recorded reason.

The stream is limited in time (LIVE_MS) and in bytes (the setting AERIE_LIVE_BYTES_MAX with its
default and bounds in console/settings.py): the oldest entries are deleted; the newest is kept.

Readers return `Tick` objects and raise RedisDown if Redis does not answer within half a second.
"""

import json
from collections.abc import Iterator
from typing import Any, cast

import redis
from django.conf import settings

from monitoring import redis_client, redis_keys
from monitoring.error_reason import Reason, dumps, loads
from monitoring.redis_client import stream_entries
from monitoring.ticks.tick import Tick, decode, encode

LIVE_MS = 15 * 60 * 1000
_SKIPPED_RETENTION_S = 3600
_CHUNK_BYTES, _CHUNK_TICKS = 4 * 1024 * 1024, 32
NOT_RUN = Reason("not_run")


def record_skip_reason(slug: str, tick: int, reason: str) -> None:
    """Store the reason why `tick` is not sampled; `put_tick` of a later tick writes its gap."""
    with redis_client.guarded() as client:
        pipe = client.pipeline(transaction=False)
        pipe.hset(redis_keys.skipped(slug), str(tick), dumps(reason))
        pipe.expire(redis_keys.skipped(slug), _SKIPPED_RETENTION_S)
        pipe.execute()


def put_tick(tick: Tick) -> bool:
    """Write `tick` and gaps for ticks that are missing before it; trim the stream.

    Returns False if the stream has this tick or a newer one; then nothing is written. Raises
    RedisDown.
    """
    with redis_client.guarded() as client:
        for gap in _gaps_before(client, tick):
            _write(client, gap)
        written = _write(client, tick)
        _trim(client, redis_keys.ticks(tick.cluster), tick.start_ms)
        if written and tick.ok:
            client.set(redis_keys.last_ok(tick.cluster), f"{tick.start_ms}-0")
        return written


def _gaps_before(client: redis.Redis, tick: Tick) -> list[Tick]:
    """Gaps between the newest entry and `tick`, within the live window."""
    newest = stream_entries(client.xrevrange(redis_keys.ticks(tick.cluster), count=1))
    if not newest:
        return []
    meta = json.loads(newest[0][1][b"meta"])
    if meta["interval_ms"] != tick.interval_ms:
        return []  # the interval was changed: the numbers are not comparable
    first = max(meta["tick"] + 1, tick.tick - LIVE_MS // tick.interval_ms)
    if first >= tick.tick:
        return []
    numbers = range(first, tick.tick)
    skipped = client.hmget(redis_keys.skipped(tick.cluster), [str(n) for n in numbers])
    reasons = cast(list[bytes | None], skipped)
    return [
        Tick(
            cluster=tick.cluster,
            tick=number,
            at_ms=number * tick.interval_ms,
            interval_ms=tick.interval_ms,
            status="gap",
            reason=loads(reason.decode()) if reason else NOT_RUN,
        )
        for number, reason in zip(numbers, reasons, strict=True)
    ]


def _write(client: redis.Redis, tick: Tick) -> bool:
    """Add the entry; False if the stream has this tick or a newer one."""
    try:
        fields: dict[Any, Any] = dict(encode(tick))
        client.xadd(redis_keys.ticks(tick.cluster), fields, id=f"{tick.start_ms}-0")
    except redis.ResponseError as error:
        if "equal or smaller" in str(error):
            return False
        raise
    return True


def _trim(client: redis.Redis, stream: str, newest_ms: int) -> None:
    """Delete entries older than 15 minutes, then the oldest ones above the limit in bytes."""
    client.xtrim(stream, minid=max(newest_ms - LIVE_MS, 0), approximate=False)
    bytes_max = settings.AERIE_LIVE_BYTES_MAX
    while (used_bytes := int(client.memory_usage(stream, samples=0) or 0)) > bytes_max:
        count = client.xlen(stream)
        if count <= 1:
            return
        count_after = min(count - 1, max(1, count * bytes_max // used_bytes))
        client.xtrim(stream, maxlen=count_after, approximate=False)


def interval_ms() -> int:
    """The length of a tick."""
    return int(settings.AERIE_TICK_SECONDS) * 1000


def latest_tick(slug: str) -> Tick | None:
    """The newest tick of the cluster, gap or not; None if the live window is empty."""
    with redis_client.quick() as client:
        entries = stream_entries(client.xrevrange(redis_keys.ticks(slug), count=1))
    return decode(entries[0][1]) if entries else None


def last_ok_tick(slug: str, *, may_block: bool = False) -> Tick | None:
    """The newest tick that is not a gap; None = Redis has none (any more). Pages show it, with its
    age, while sampling fails.

    `may_block` (for workers): waits longer for Redis.
    """
    with redis_client.guarded() if may_block else redis_client.quick() as client:
        entry_id = client.get(redis_keys.last_ok(slug))
        if entry_id is None:
            return None
        entries = stream_entries(client.xrange(redis_keys.ticks(slug), min=entry_id, max=entry_id))
    return decode(entries[0][1]) if entries else None


def recent_ticks(slug: str, since_ms: int) -> Iterator[Tick]:
    """Ticks that began at or after `since_ms`, oldest first, gaps included."""
    return map(decode, entries(slug, since_ms))


def entries(slug: str, since_ms: int, before_ms: int | None = None) -> Iterator[dict[bytes, bytes]]:
    """The entries of ticks that began at or after `since_ms` and before `before_ms`, oldest first.

    They are read in chunks of about _CHUNK_BYTES.
    """
    start, count = str(max(since_ms, 0)), 1
    end = "+" if before_ms is None else f"({before_ms}-0"
    while True:
        with redis_client.quick() as client:
            read = client.xrange(redis_keys.ticks(slug), min=start, max=end, count=count)
        found = stream_entries(read)
        yield from (fields for _, fields in found)
        if len(found) < count:
            return
        start = f"({found[-1][0].decode()}"
        largest = max(sum(map(len, fields.values())) for _, fields in found)
        count = min(max(1, _CHUNK_BYTES // max(largest, 1)), _CHUNK_TICKS)


def ticks_after(slug: str, start_ms: int, limit: int) -> list[Tick]:
    """At most `limit` ticks that began after `start_ms`, oldest first."""
    with redis_client.quick() as client:
        found = client.xrange(redis_keys.ticks(slug), min=start_ms + 1, count=limit)
    return [decode(fields) for _, fields in stream_entries(found)]
