"""Caches the newest snapshot of each cluster in this web process.

Pages call `snapshot(slug, rights)`, `sample_status(slug, rights)` and `history(slug, rights)`.
They never query a broker. Redis is queried at most every CHECK_SECONDS per cluster, and only for
newer ticks. A gap or an unavailable Redis changes the status; the figures stay those of the last ok
tick, with their age.

The data of a cluster is an immutable value (`_State`) that is replaced as a whole. One thread at a
time reads and computes the next one, outside of requests; until it is ready, requests get the
current one at once. A request waits only if there is no data yet, or if the last tick is late. Data
is cached per scope (monitoring/scope.py), for the most recently used scopes of each cluster. A
scope that shows everything shares the data of the whole cluster.

A cluster that was removed or not used for a while is dropped from the cache, and its memory is
released.
"""

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.accounts.rights import Rights
from console.live.sample_status import SampleStatus, is_late, status_of
from monitoring import memory
from monitoring.clock import now_ms
from monitoring.own_topics import NAMES
from monitoring.read_model.rows import Totals
from monitoring.read_model.snapshot import Snapshot
from monitoring.read_model.tick_columns import TickColumns
from monitoring.redis_client import StoreDown, reset_backoff
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick

CHECK_SECONDS = 1.0
POINTS_MAX = 60  # of the small history beside the totals
# Of a large cluster a process that has just started reads less of the past.
LARGE_ROWS, POINTS_LARGE = 20_000, 6
CLUSTERS_MAX = 256
SCOPES_MAX = 32  # of one cluster
IDLE_SECONDS = 300.0
log = logging.getLogger(__name__)

Points = tuple[Totals | None, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """The cached data of one cluster; immutable."""

    head: Tick | None = None  # the newest tick, gap or not
    columns: TickColumns | None = None  # of the newest ok tick
    points: Mapping[Scope, Points] = field(default_factory=dict)
    snapshots: dict[Scope, Snapshot] = field(default_factory=dict)  # of `columns`, as asked for
    unreadable: str | Promise = ""
    unreadable_since_ms: int | None = None

    def snapshot(self, scope: Scope) -> Snapshot | None:
        """Made on first use; two threads may make it at the same time."""
        if self.columns is None:
            return None
        found = self.snapshots.get(scope)
        if found is None:
            found = Snapshot(self.columns, scope)
            if scope != EVERYTHING and found.shows_all:
                whole = self.snapshots.setdefault(EVERYTHING, Snapshot(self.columns))
                found = whole if not self.columns.tick.refused else found
            self.snapshots[scope] = found
        return found


@dataclass(slots=True)
class _Known:
    """The place of one cluster's state. Who has `lock` may replace the state, and alone reads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked_at: float = field(default_factory=time.monotonic)
    checked_at: float = -1e9
    state: _State = field(default_factory=_State)
    scopes: dict[Scope, float] = field(default_factory=dict)  # when asked for; the last is newest

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self.checked_at >= CHECK_SECONDS


_known: dict[str, _Known] = {}
_known_lock = threading.Lock()  # only held for short operations


def _of(slug: str, scope: Scope | None = None) -> _Known:
    now = time.monotonic()
    with _known_lock:
        idle = [name for name, known in _known.items() if now - known.asked_at > IDLE_SECONDS]
        for name in idle:
            del _known[name]
        if slug not in _known and len(_known) >= CLUSTERS_MAX:
            _known.pop(next(iter(_known)))
        found = _known.setdefault(slug, _Known())
        found.asked_at = now
        if scope is not None:
            _note_scope(found, scope, now)
    if idle:
        memory.give_back()
    return found


def _note_scope(known: _Known, scope: Scope, now: float) -> None:
    """Drop scopes that were not used for a while, and the oldest ones above the limit."""
    known.scopes.pop(scope, None)
    known.scopes[scope] = now
    oldest, asked_at = next(iter(known.scopes.items()))
    if now - asked_at > IDLE_SECONDS or len(known.scopes) > SCOPES_MAX:
        del known.scopes[oldest]
        known.state.snapshots.pop(oldest, None)


def forget(slug: str) -> None:
    """Drop the data of a cluster, when it was removed or its address changed."""
    with _known_lock:
        _known.pop(slug, None)
    memory.give_back()


_NOT_ASKED = Scope(hidden_topics=NAMES)  # of callers without rights, such as /readyz


def _scope(rights: Rights | None) -> Scope:
    return _NOT_ASKED if rights is None else rights.scope


def snapshot(slug: str, rights: Rights) -> Snapshot | None:
    """The snapshot of the newest ok tick, within the scope of these rights; None = none yet."""
    scope = _scope(rights)
    return _look(slug, scope).state.snapshot(scope)


def history(slug: str, rights: Rights) -> list[Totals | None]:
    """The totals of the last ticks, oldest first; None for a gap."""
    scope = _scope(rights)
    known = _look(slug, scope)
    if scope not in known.state.points and known.state.columns is not None:
        with known.lock:  # waited for once in each scope
            _add_points(slug, known, scope)
    return list(known.state.points.get(scope, ()))


def sample_status(slug: str, rights: Rights | None = None) -> SampleStatus:
    """The current status of the samples; cheap. Without rights, nothing hidden is included."""
    scope = _scope(rights)
    state = _look(slug, scope).state
    found = status_of(slug, state.head, state.snapshot(scope), scope)
    if state.unreadable:
        reason, since_ms = str(state.unreadable), state.unreadable_since_ms
        found = replace(found, state="unreadable", reason=reason, since_ms=since_ms, problems=None)
    return found


def refresh(slug: str, *, at_once: bool = False, announced: int | None = None) -> None:
    """Check for newer ticks and wait for the result: `at_once`, or if a tick was `announced`.

    For callers that can wait, such as the sockets of pages.
    """
    known = _of(slug)
    if announced is not None and _has(known.state, announced):
        return
    with known.lock:
        if announced is not None:
            if _has(known.state, announced):
                return  # another socket has done it already
            at_once = True
        if at_once:
            reset_backoff()  # the announcement came through Redis, so Redis answers
        if at_once or known.is_due:
            _update(slug, known)


def _has(state: _State, number: int) -> bool:
    return state.head is not None and state.head.tick >= number and not state.unreadable


def _look(slug: str, scope: Scope) -> _Known:
    """Start a check for newer ticks, if it is due."""
    known = _of(slug, scope)
    head = known.state.head
    if not known.is_due:
        return known
    if head is None:
        with known.lock:
            if known.is_due:
                _update(slug, known)
    elif known.lock.acquire(blocking=False):
        if is_late(head):  # not used for a while, or nothing is sampled
            _update_and_release(slug, known)
        else:
            _start(slug, known)
    return known


def _start(slug: str, known: _Known) -> None:
    work = threading.Thread(
        target=_update_and_release, args=(slug, known), name=f"snapshot of {slug}", daemon=True
    )
    try:
        work.start()
    except RuntimeError:  # no thread could be started; the next request tries again
        known.lock.release()
        log.warning("the snapshot of cluster %s was not renewed: no thread can be started", slug)


def _update_and_release(slug: str, known: _Known) -> None:
    try:
        _update(slug, known)
    except Exception:
        log.exception("the snapshot of cluster %s was not renewed", slug)
    finally:
        known.lock.release()


def _update(slug: str, known: _Known) -> None:
    known.checked_at = time.monotonic()
    try:
        found = _read(slug, known.state, tuple(known.scopes))
        known.state = replace(found, unreadable="", unreadable_since_ms=None)
    except StoreDown:
        text = gettext_lazy("Redis, which holds the samples, does not answer.")
        known.state = _unreadable(known.state, text)
    except ValueError as error:
        known.state = _unreadable(known.state, str(error))


def _unreadable(state: _State, reason: str | Promise) -> _State:
    since_ms = state.unreadable_since_ms or now_ms()
    return replace(state, unreadable=reason, unreadable_since_ms=since_ms)


def _read(slug: str, state: _State, scopes: Iterable[Scope]) -> _State:
    """Read newer ticks: usually none or one, at first as many as the sparklines show."""
    if state.head is not None:
        newer = tick_stream.ticks_after(slug, state.head.start_ms, 2)
        if len(newer) < 2:
            for tick in newer:
                state = _with(state, tick, scopes)
            return state
    head = tick_stream.latest_tick(slug)
    if head is None:
        return state
    since_ms = _since_ms(head)
    if state.head is not None:
        since_ms = max(since_ms, state.head.start_ms + 1)
    for tick in tick_stream.recent_ticks(slug, since_ms):
        state = _with(state, tick, scopes)
    if state.columns is None and (last := tick_stream.last_ok_tick(slug)) is not None:
        state = replace(state, columns=TickColumns.of(last), snapshots={})
    if _is_large(head):
        memory.give_back()  # what the past has taken, of which only points are left
    return state


def _is_large(tick: Tick) -> bool:
    return len(tick.partitions) + len(tick.groups) >= LARGE_ROWS


def _since_ms(head: Tick) -> int:
    """The start of the sparklines."""
    points = POINTS_LARGE if _is_large(head) else POINTS_MAX
    return head.start_ms - points * head.interval_ms


def _with(state: _State, tick: Tick, scopes: Iterable[Scope]) -> _State:
    """The state after one more tick."""
    if not tick.ok:
        points = {scope: _longer(line, None) for scope, line in state.points.items()}
        return replace(state, head=tick, points=points)
    after = replace(
        state, head=tick, columns=TickColumns.of(tick, state.columns), points={}, snapshots={}
    )
    points = {}
    for scope in scopes:
        found = after.snapshot(scope)
        if found is not None:
            points[scope] = _longer(state.points.get(scope, ()), found.totals)
    return replace(after, points=points)


def _longer(line: Points, point: Totals | None) -> Points:
    return (*line, point)[-POINTS_MAX:]


def _add_points(slug: str, known: _Known, scope: Scope) -> None:
    """The sparkline points of a new scope, for the ticks up to the current one."""
    state = known.state
    if scope in state.points or state.head is None:
        return
    past = _State()
    try:
        for tick in tick_stream.recent_ticks(slug, _since_ms(state.head)):
            if tick.tick <= state.head.tick:
                past = _with(past, tick, (scope,))
    except (StoreDown, ValueError):
        return  # the status reports it
    known.state = replace(state, points={**state.points, scope: past.points.get(scope, ())})
    if _is_large(state.head):
        memory.give_back()
