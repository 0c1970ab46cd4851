"""Room in a Redis that is full: samples that are too old go even while none can be written.

A Redis at its `maxmemory` refuses every write, so nothing is sampled, and what only a new sample
would push out stays for good. It still deletes. First goes what is outside the live window; if that
is not enough, all but the newest minutes, for what is older is in the history already.
"""

import logging

from monitoring import keys, store
from monitoring.clock import now_ms
from monitoring.sampling.encode import LIVE_MS

_NEWEST_MS = 150_000  # history is flushed each minute
_PROBE = "aerie:relief"

log = logging.getLogger(__name__)


def relieve() -> None:
    """Delete old samples of every cluster until Redis takes writes again. Raises StoreDown."""
    with store.guarded() as client:
        streams = list(client.scan_iter(match=keys.ticks("*"), count=1000))
        before = sum(client.xlen(stream) for stream in streams)
        for stream in streams:
            client.xtrim(stream, minid=max(now_ms() - LIVE_MS, 0), approximate=False)
        if not _takes_writes():
            for stream in streams:
                newest = client.xrevrange(stream, count=1)
                newest_ms = int(newest[0][0].split(b"-")[0]) if newest else 0
                client.xtrim(stream, minid=max(newest_ms - _NEWEST_MS, 0), approximate=False)
        gone = before - sum(client.xlen(stream) for stream in streams)
    log.error(
        "Redis is full (maxmemory): %d old samples were deleted to make room. Watch fewer "
        "partitions, or name a larger Redis in REDIS_URL",
        gone,
    )


def _takes_writes() -> bool:
    try:
        with store.guarded() as client:
            client.set(_PROBE, 1, px=1)
    except store.StoreFull:
        return False
    return True
