"""Readers of the live window: the ticks of the last 15 minutes, from Redis.

Each returns whole ticks (`Tick.partitions` and `.groups` are Arrow tables, see schema.py).
Each raises StoreDown when Redis does not answer, within half a second; a caller shows that, and
tries again.
"""

from django.conf import settings

from monitoring import keys, store
from monitoring.sampling.tick import Tick, decode


def interval_ms() -> int:
    """The length of a tick."""
    return int(settings.AERIE_TICK_SECONDS) * 1000


def latest_tick(slug: str) -> Tick | None:
    """The newest tick of the cluster, be it a gap; None when nothing was sampled lately."""
    with store.quick() as client:
        entries = client.xrevrange(keys.ticks(slug), count=1)
    return decode(entries[0][1]) if entries else None


def last_ok_tick(slug: str, *, patient: bool = False) -> Tick | None:
    """The newest tick that is not a gap: what a page shows, with its age, while sampling fails.

    A worker is `patient`: better late than without it.
    """
    with store.guarded() if patient else store.quick() as client:
        entry_id = client.get(keys.last_ok(slug))
        if entry_id is None:
            return None
        entries = client.xrange(keys.ticks(slug), min=entry_id, max=entry_id)
    return decode(entries[0][1]) if entries else None


def recent_ticks(slug: str, since_ms: int) -> list[Tick]:
    """Ticks that began at or after `since_ms`, oldest first, gaps included."""
    with store.quick() as client:
        entries = client.xrange(keys.ticks(slug), min=max(since_ms, 0))
    return [decode(fields) for _, fields in entries]


def ticks_after(slug: str, start_ms: int, limit: int) -> list[Tick]:
    """At most `limit` ticks that began later, oldest first; where there is none it costs little."""
    with store.quick() as client:
        entries = client.xrange(keys.ticks(slug), min=start_ms + 1, count=limit)
    return [decode(fields) for _, fields in entries]
