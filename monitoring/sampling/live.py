"""Readers of the live window: the ticks of the last 15 minutes, from Redis.

Most return whole ticks (`Tick.partitions` and `.groups` are Arrow tables, see schema.py). Readers
of many read a few of them at a time: all of a large cluster's would be gigabytes.
Each raises StoreDown when Redis does not answer, within half a second; a caller shows that, and
tries again.
"""

from collections.abc import Iterator

from django.conf import settings

from monitoring import keys, store
from monitoring.sampling.tick import GroupsOfTick, Tick, decode, decode_groups

_PIECE_BYTES, _PIECE_TICKS = 4 * 1024 * 1024, 32


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


def recent_ticks(slug: str, since_ms: int) -> Iterator[Tick]:
    """Ticks that began at or after `since_ms`, oldest first, gaps included."""
    return map(decode, _entries(slug, since_ms))


def recent_groups(slug: str, since_ms: int) -> Iterator[GroupsOfTick]:
    """The groups of the ticks that `recent_ticks` tells, without the rest."""
    return map(decode_groups, _entries(slug, since_ms))


def _entries(slug: str, since_ms: int) -> Iterator[dict[bytes, bytes]]:
    """The stream in pieces, each about as large as the one before lets expect."""
    start, count = str(max(since_ms, 0)), 1
    while True:
        with store.quick() as client:
            entries = client.xrange(keys.ticks(slug), min=start, count=count)
        yield from (fields for _, fields in entries)
        if len(entries) < count:
            return
        start = f"({entries[-1][0].decode()}"
        largest = max(sum(map(len, fields.values())) for _, fields in entries)
        count = min(max(1, _PIECE_BYTES // max(largest, 1)), _PIECE_TICKS)


def ticks_after(slug: str, start_ms: int, limit: int) -> list[Tick]:
    """At most `limit` ticks that began later, oldest first; where there is none it costs little."""
    with store.quick() as client:
        entries = client.xrange(keys.ticks(slug), min=start_ms + 1, count=limit)
    return [decode(fields) for _, fields in entries]
