"""What this web process knows of each cluster: the newest tick, read once and shared by all.

A page asks `snapshot(slug, rights)` and `status(slug)`; neither asks a broker, and Redis at most
every CHECK_SECONDS for a cluster, and then only for what is newer. A gap in sampling or a Redis
that is away changes the status, not the figures: those stay the last good ones, with their age.

A cluster that was removed, or that nobody asked about for a while, is forgotten, and its memory
given back to the system.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from console.accounts.rights import Rights, is_hidden
from console.live import memory
from console.ui.texts import sentence
from monitoring.clock import now_ms
from monitoring.redis_client import StoreDown, ask_again
from monitoring.ticks import tick_stream
from monitoring.ticks.schema import GROUPS
from monitoring.ticks.tick import Tick
from monitoring.views.columns import names
from monitoring.views.rows import BrokerRow, Totals
from monitoring.views.snapshot import Snapshot, everything

CHECK_SECONDS = 1.0
LATE_INTERVALS, LATE_SLACK_MS = 2, 1500  # static/app/live.js waits as long
POINTS_MAX = 60  # of the small history beside the totals
# Of a large cluster a process that has just started reads less of the past: a tick costs 0.1 s.
LARGE_ROWS, POINTS_LARGE = 20_000, 6
CLUSTERS_MAX = 256
IDLE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Troubles:
    """What of a cluster that answers is away or untrue; made for one set of visible topics."""

    leaderless: int = 0
    leaderless_since_ms: int | None = None
    partitions: int = 0
    brokers_down: tuple[BrokerRow, ...] = ()
    groups_silent: int = 0
    groups_complete: bool = True
    zookeeper_since_ms: int | None = None
    refused: tuple[str, ...] = ()  # what the cluster told and cannot be true

    def __bool__(self) -> bool:
        return bool(
            self.leaderless
            or self.brokers_down
            or self.groups_silent
            or self.zookeeper_since_ms
            or self.refused
        )

    @property
    def led_by_brokers_down(self) -> int:
        """Partitions whose leader does not answer; the cluster may not have noticed yet."""
        return sum(broker.leaders for broker in self.brokers_down)

    @property
    def since_ms(self) -> int | None:
        """When the oldest of them began."""
        down = [broker.down_since_ms for broker in self.brokers_down]
        known = [at for at in (self.leaderless_since_ms, self.zookeeper_since_ms, *down) if at]
        return min(known, default=None)


@dataclass(frozen=True, slots=True)
class Status:
    """How the samples of a cluster stand.

    state: ok | partial (live, but a part of the cluster is away: `troubles`) | gap (sampling
           fails: `reason`) | stale (no tick comes) | none (never sampled)
           | unreadable (Redis is away)
    at_ms: when the figures shown were sampled, None when there are none; age_ms: how long ago
    since_ms: since when the state is not ok, as far as known
    """

    slug: str = ""
    state: str = "none"
    at_ms: int | None = None
    age_ms: int | None = None
    reason: str = ""
    source: str = ""
    tick: int | None = None
    since_ms: int | None = None
    troubles: Troubles | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("ok", "partial")


@dataclass(slots=True)
class _Known:
    """The mutable memory of one cluster; `lock` guards it all."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked_at: float = field(default_factory=time.monotonic)
    checked_at: float = -1e9
    head: Tick | None = None  # the newest tick, gap or not
    ok: Tick | None = None
    before: Tick | None = None
    unreadable: str = ""
    unreadable_since_ms: int | None = None
    snapshots: dict[bool, Snapshot] = field(default_factory=dict)
    points: dict[bool, deque[Totals | None]] = field(default_factory=dict)


_known: dict[str, _Known] = {}
_known_lock = threading.Lock()


def _of(slug: str) -> _Known:
    now = time.monotonic()
    with _known_lock:
        idle = [name for name, known in _known.items() if now - known.asked_at > IDLE_SECONDS]
        for name in idle:
            del _known[name]
        if slug not in _known and len(_known) >= CLUSTERS_MAX:
            _known.pop(next(iter(_known)))
        found = _known.setdefault(slug, _Known())
        found.asked_at = now
    if idle:
        memory.give_back()
    return found


def forget(slug: str) -> None:
    """Drops what is known of a cluster, as when it was removed or points elsewhere now."""
    with _known_lock:
        _known.pop(slug, None)
    memory.give_back()


def refresh(slug: str, *, at_once: bool = False, announced: int | None = None) -> None:
    """Looks for newer ticks; `at_once` where one may just have come, or was `announced`."""
    known = _of(slug)
    with known.lock:
        if announced is not None:
            if _knows(known, announced):
                return  # another socket asked already
            at_once = True
        if not at_once and time.monotonic() - known.checked_at < CHECK_SECONDS:
            return
        known.checked_at = time.monotonic()
        if at_once:
            ask_again()  # what was announced came through Redis: it answers
        try:
            _read(slug, known)
            known.unreadable, known.unreadable_since_ms = "", None
        except StoreDown:
            _note_unreadable(known, _("Redis, which holds the samples, does not answer."))
        except ValueError as error:
            _note_unreadable(known, str(error))


def _knows(known: _Known, number: int) -> bool:
    return known.head is not None and known.head.tick >= number and not known.unreadable


def _note_unreadable(known: _Known, reason: str) -> None:
    known.unreadable = reason
    known.unreadable_since_ms = known.unreadable_since_ms or now_ms()


def _read(slug: str, known: _Known) -> None:
    """Takes in what is newer: as a rule nothing or one tick, else as much as the drawings show."""
    if known.head is not None:
        newer = tick_stream.ticks_after(slug, known.head.start_ms, 2)
        if len(newer) < 2:
            for tick in newer:
                _take(known, tick)
            return
    head = tick_stream.latest_tick(slug)
    if head is None:
        return
    points = POINTS_MAX if len(head.partitions) + len(head.groups) < LARGE_ROWS else POINTS_LARGE
    since_ms = head.start_ms - points * head.interval_ms
    if known.head is not None:
        since_ms = max(since_ms, known.head.start_ms + 1)
    for tick in tick_stream.recent_ticks(slug, since_ms):
        _take(known, tick)
    if known.ok is None:
        known.ok = tick_stream.last_ok_tick(slug)
    if points == POINTS_LARGE:
        memory.give_back()  # what the past has taken, of which only points are left


def _take(known: _Known, tick: Tick) -> None:
    known.head = tick
    for line in known.points.values():
        line.append(None)
    if not tick.ok:
        return
    # Of the tick before only the growth since is asked for, which groups have no part in.
    known.before = replace(known.ok, groups=GROUPS.empty_table()) if known.ok else None
    known.ok = tick
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
    return not is_hidden("topic.view", topic)


def snapshot(slug: str, rights: Rights) -> Snapshot | None:
    """The newest good figures, without topics that these rights do not show; None = none yet."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        return _snapshot(known, not rights.hidden_prefixes)


def history(slug: str, rights: Rights) -> list[Totals | None]:
    """The totals of the last ticks, oldest first; None for a tick that failed."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        return list(known.points.get(not rights.hidden_prefixes, ()))


def status(slug: str, rights: Rights | None = None) -> Status:
    """How the samples stand now; cheap, for every page. Without rights nothing hidden counts."""
    refresh(slug)
    known = _of(slug)
    with known.lock:
        head, shown = known.head, known.ok
        said = Status(
            slug=slug,
            at_ms=shown.at_ms if shown else None,
            age_ms=now_ms() - shown.at_ms if shown else None,
            source=_("sampler"),
            tick=head.tick if head else None,
        )
        if known.unreadable:
            since_ms = known.unreadable_since_ms
            return replace(said, state="unreadable", reason=known.unreadable, since_ms=since_ms)
        if head is None:
            return said
        if _is_late(head):
            return replace(said, state="stale", since_ms=head.at_ms)
        if not head.ok:
            return replace(said, state="gap", reason=sentence(head.reason), since_ms=said.at_ms)
        troubles = _troubles(known, rights is not None and not rights.hidden_prefixes)
        if not troubles:
            return replace(said, state="ok", reason=head.reason)
        return replace(
            said,
            state="partial",
            reason=head.reason,
            since_ms=troubles.since_ms,
            troubles=troubles,
        )


def _troubles(known: _Known, sees_all: bool) -> Troubles:
    snapshot = _snapshot(known, sees_all)
    if snapshot is None:
        return Troubles()
    totals, since = snapshot.totals, snapshot.tick.since
    return Troubles(
        leaderless=totals.offline,
        leaderless_since_ms=since.get("leaderless") if totals.offline else None,
        partitions=totals.partitions,
        brokers_down=tuple(broker for broker in snapshot.brokers if not broker.up),
        groups_silent=totals.groups_silent,
        groups_complete=snapshot.tick.groups_complete,
        zookeeper_since_ms=since.get("zookeeper"),
        refused=_refused(snapshot.tick, sees_all),
    )


def _refused(tick: Tick, sees_all: bool) -> tuple[str, ...]:
    """The sentences may name hidden topics: who does not see those learns only that there are."""
    if sees_all or not tick.refused:
        return tuple(tick.refused)
    return (_("An admin sees what it is."),)


def _is_late(tick: Tick) -> bool:
    """Whether the next tick, which may take most of its interval, should have come by now."""
    return now_ms() - tick.at_ms > LATE_INTERVALS * tick.interval_ms + LATE_SLACK_MS
