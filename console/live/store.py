"""What this web process knows of each cluster: the newest tick, read once and shared by all.

A page asks `snapshot(slug, rights)` and `status(slug)`; neither asks a broker, and Redis at most
every CHECK_SECONDS for a cluster. A gap in sampling or a Redis that is away changes the status,
not the figures: those stay the last good ones, with their age.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from console.accounts import rights
from console.live.columns import names
from console.live.rows import Totals
from console.live.snapshot import Snapshot, everything
from monitoring.clock import now_ms
from monitoring.sampling import live
from monitoring.sampling.tick import Tick
from monitoring.store import StoreDown

CHECK_SECONDS = 1.0
POINTS_MAX = 60  # of the small history beside the totals
# Of a large cluster a process that has just started reads less of the past: a tick costs 0.1 s.
LARGE_ROWS, POINTS_LARGE = 20_000, 6
CLUSTERS_MAX = 256


@dataclass(frozen=True, slots=True)
class Status:
    """How the samples of a cluster stand.

    state: ok | gap (sampling fails: `reason`) | stale (no tick comes) | none (never sampled)
           | unreadable (Redis is away)
    at_ms: when the figures shown were sampled, None when there are none
    """

    state: str = "none"
    at_ms: int | None = None
    reason: str = ""
    source: str = ""
    tick: int | None = None


@dataclass(slots=True)
class _Known:
    """The mutable memory of one cluster; `lock` guards it all."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    checked_at: float = -1e9
    head: Tick | None = None  # the newest tick, gap or not
    ok: Tick | None = None
    before: Tick | None = None
    unreadable: str = ""
    snapshots: dict[bool, Snapshot] = field(default_factory=dict)
    points: dict[bool, deque[Totals | None]] = field(default_factory=dict)


_known: dict[str, _Known] = {}
_known_lock = threading.Lock()


def _of(slug: str) -> _Known:
    with _known_lock:
        if slug not in _known and len(_known) >= CLUSTERS_MAX:
            _known.pop(next(iter(_known)))
        return _known.setdefault(slug, _Known())


def forget(slug: str) -> None:
    """Drops what is known of a cluster, as when it was removed or points elsewhere now."""
    with _known_lock:
        _known.pop(slug, None)


def refresh(slug: str, *, at_once: bool = False) -> None:
    """Looks for newer ticks; `at_once` when one was announced."""
    known = _of(slug)
    with known.lock:
        if not at_once and time.monotonic() - known.checked_at < CHECK_SECONDS:
            return
        known.checked_at = time.monotonic()
        try:
            _read(slug, known)
            known.unreadable = ""
        except StoreDown:
            known.unreadable = _("Redis, which holds the samples, does not answer.")
        except ValueError as error:
            known.unreadable = str(error)


def _read(slug: str, known: _Known) -> None:
    head = live.latest_tick(slug)
    if head is None or (known.head is not None and head.tick == known.head.tick):
        return
    points = POINTS_MAX if len(head.partitions) + len(head.groups) < LARGE_ROWS else POINTS_LARGE
    since_ms = head.start_ms - points * head.interval_ms
    if known.head is not None:
        since_ms = max(since_ms, known.head.start_ms + 1)
    follows = known.head is not None and head.tick == known.head.tick + 1
    for tick in [head] if follows else live.recent_ticks(slug, since_ms):
        _take(known, tick)
    if known.ok is None:
        known.ok = live.last_ok_tick(slug)


def _take(known: _Known, tick: Tick) -> None:
    known.head = tick
    for line in known.points.values():
        line.append(None)
    if not tick.ok:
        return
    known.before, known.ok = known.ok, tick
    known.snapshots.clear()
    for sees_all in (True, False):
        snapshot = _snapshot(known, sees_all)
        line = known.points.setdefault(sees_all, deque([None], maxlen=POINTS_MAX))
        if snapshot is not None:
            line[-1] = snapshot.totals


def _snapshot(known: _Known, sees_all: bool) -> Snapshot | None:
    if known.ok is None:
        return None
    if not known.snapshots:
        whole = Snapshot(known.ok, known.before, everything)
        hidden = any(not _visible(topic) for topic in names(known.ok.partitions["topic"])[1])
        part = Snapshot(known.ok, known.before, _visible) if hidden else whole
        known.snapshots = {True: whole, False: part}
    return known.snapshots[sees_all]


def _visible(topic: str) -> bool:
    return not rights.is_hidden("topic.view", topic)


def snapshot(slug: str, held: rights.Rights) -> Snapshot | None:
    """The newest good figures, without topics that these rights do not show; None = none yet."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        return _snapshot(known, not held.hidden_prefixes)


def history(slug: str, held: rights.Rights) -> list[Totals | None]:
    """The totals of the last ticks, oldest first; None for a tick that failed."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        return list(known.points.get(not held.hidden_prefixes, ()))


def status(slug: str) -> Status:
    """How the samples stand now; cheap, for every page."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        head, shown = known.head, known.ok
        said = Status(
            at_ms=shown.at_ms if shown else None,
            source=_("sampler"),
            tick=head.tick if head else None,
        )
        if known.unreadable:
            return replace(said, state="unreadable", reason=known.unreadable)
        if head is None:
            return said
        if _is_late(head):
            return replace(said, state="stale")
        if not head.ok:
            return replace(said, state="gap", reason=head.reason)
        return replace(said, state="ok", reason=head.reason)


def _is_late(tick: Tick) -> bool:
    return now_ms() - tick.at_ms > max(4 * tick.interval_ms, 20_000)
