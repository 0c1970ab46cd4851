"""Ticks into Redis: one stream per cluster, each entry at the start of its tick.

The entry id is `<start_ms>-0`, so Redis itself refuses a tick that is older than, or the same as,
one already there: a late or doubled sampler cannot rewrite history. Ticks that nobody sampled
become gap entries when the next one is written, with the reason that was noted for them.

The stream is bounded in time and in bytes: the oldest entries go first, the newest stays.
"""

import json

import redis
from django.conf import settings

from monitoring import keys, store
from monitoring.sampling.tick import Tick, encode

LIVE_MS = 15 * 60 * 1000
_SKIPPED_KEPT_S = 3600
NOT_RUN = "no worker ran this tick in time"


def note_skipped(slug: str, tick: int, reason: str) -> None:
    """Remember why `tick` is not sampled, for the gap entry that takes its place."""
    with store.guarded() as client:
        pipe = client.pipeline(transaction=False)
        pipe.hset(keys.skipped(slug), str(tick), reason)
        pipe.expire(keys.skipped(slug), _SKIPPED_KEPT_S)
        pipe.execute()


def put_tick(tick: Tick) -> bool:
    """Write `tick`, and gaps for what is missing since the one before; trim the stream.

    False = a tick as new or newer is there already, nothing was written. Raises StoreDown.
    """
    with store.guarded() as client:
        for gap in _missing_before(client, tick):
            _add(client, gap)
        written = _add(client, tick)
        _trim(client, keys.ticks(tick.cluster), tick.start_ms)
        if written and tick.ok:
            client.set(keys.last_ok(tick.cluster), f"{tick.start_ms}-0")
        return written


def _trim(client: redis.Redis, stream: str, newest_ms: int) -> None:
    """Drop what is older than 15 minutes, and then the oldest beyond the cluster's share."""
    client.xtrim(stream, minid=max(newest_ms - LIVE_MS, 0), approximate=False)
    bytes_max = settings.AERIE_LIVE_BYTES_MAX
    while (held := int(client.memory_usage(stream, samples=0) or 0)) > bytes_max:
        count = client.xlen(stream)
        if count <= 1:
            return
        kept = min(count - 1, max(1, count * bytes_max // held))
        client.xtrim(stream, maxlen=kept, approximate=False)


def _add(client: redis.Redis, tick: Tick) -> bool:
    try:
        client.xadd(keys.ticks(tick.cluster), encode(tick), id=f"{tick.start_ms}-0")
    except redis.ResponseError as error:
        if "equal or smaller" in str(error):
            return False
        raise
    return True


def _missing_before(client: redis.Redis, tick: Tick) -> list[Tick]:
    """Gap ticks between the newest entry and `tick`, none older than the live window."""
    newest = client.xrevrange(keys.ticks(tick.cluster), count=1)
    if not newest:
        return []
    meta = json.loads(newest[0][1][b"meta"])
    if meta["interval_ms"] != tick.interval_ms:
        return []  # the interval was changed: the numbers do not continue
    first = max(meta["tick"] + 1, tick.tick - LIVE_MS // tick.interval_ms)
    if first >= tick.tick:
        return []
    numbers = range(first, tick.tick)
    reasons = client.hmget(keys.skipped(tick.cluster), [str(n) for n in numbers])
    return [
        Tick(
            cluster=tick.cluster,
            tick=number,
            at_ms=number * tick.interval_ms,
            interval_ms=tick.interval_ms,
            status="gap",
            reason=reason.decode() if reason else NOT_RUN,
        )
        for number, reason in zip(numbers, reasons, strict=True)
    ]
