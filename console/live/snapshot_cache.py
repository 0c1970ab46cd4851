"""Caches the newest snapshot of each cluster in this web process.

Pages call `snapshot(slug, rights)`, `sample_status(slug, rights)` and
`recent_totals(slug, rights)`. They never query a broker. Redis is queried at most every
CHECK_SECONDS per cluster, and only for newer ticks. A gap or an unavailable Redis changes the
status; the figures stay those of the last ok tick, with their age.

The data of a cluster is an immutable value (`_ClusterData`) that is replaced as a whole. One thread
at a time reads and computes the next one, outside of requests; until it is ready, requests get the
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
from monitoring import process_memory
from monitoring.clock import now_ms
from monitoring.own_topics import NAMES
from monitoring.read_model.row_types import Totals
from monitoring.read_model.snapshot import Snapshot
from monitoring.read_model.tick_columns import TickColumns
from monitoring.redis_client import RedisDown, reset_backoff
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick

CHECK_SECONDS = 1.0
POINTS_MAX = 60  # of the sparklines
# For a large cluster, a process that has just started reads fewer past ticks.
LARGE_ROWS, POINTS_LARGE = 20_000, 6
CLUSTERS_MAX = 256
SCOPES_MAX = 32  # of one cluster
IDLE_SECONDS = 300.0
log = logging.getLogger(__name__)

Points = tuple[Totals | None, ...]


@dataclass(frozen=True, slots=True)
class _ClusterData:
    """The cached data of one cluster; immutable."""

    newest: Tick | None = None  # the newest tick, gap or not
    columns: TickColumns | None = None  # of the newest ok tick
    points: Mapping[Scope, Points] = field(default_factory=dict)
    snapshots: dict[Scope, Snapshot] = field(default_factory=dict)  # of `columns`
    unreadable: str | Promise = ""
    unreadable_since_ms: int | None = None

    def snapshot(self, scope: Scope) -> Snapshot | None:
        """The snapshot of a scope; made on first use, perhaps by two threads at the same time."""
        if self.columns is None:
            return None
        found = self.snapshots.get(scope)
        if found is None:
            found = Snapshot(self.columns, scope)
            if scope != EVERYTHING and found.shows_all:
                whole = self.snapshots.setdefault(EVERYTHING, Snapshot(self.columns))
                found = whole if not self.columns.tick.invalid else found
            self.snapshots[scope] = found
        return found


@dataclass(slots=True)
class _CacheEntry:
    """The cache entry of one cluster. `lock` is held to read newer ticks and to replace `state`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    used_at: float = field(default_factory=time.monotonic)
    checked_at: float = -1e9
    state: _ClusterData = field(default_factory=_ClusterData)
    scopes: dict[Scope, float] = field(default_factory=dict)  # last use; the last one is newest

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self.checked_at >= CHECK_SECONDS


_entries: dict[str, _CacheEntry] = {}
_entries_lock = threading.Lock()  # only held for short operations


def _entry(slug: str, scope: Scope | None = None) -> _CacheEntry:
    now = time.monotonic()
    with _entries_lock:
        idle = [name for name, entry in _entries.items() if now - entry.used_at > IDLE_SECONDS]
        for name in idle:
            del _entries[name]
        if slug not in _entries and len(_entries) >= CLUSTERS_MAX:
            _entries.pop(next(iter(_entries)))
        entry = _entries.setdefault(slug, _CacheEntry())
        entry.used_at = now
        if scope is not None:
            _record_scope_use(entry, scope, now)
    if idle:
        process_memory.release()
    return entry


def _record_scope_use(entry: _CacheEntry, scope: Scope, now: float) -> None:
    """Record the use of a scope; drop the oldest one if it is unused or above the limit."""
    entry.scopes.pop(scope, None)
    entry.scopes[scope] = now
    oldest, used_at = next(iter(entry.scopes.items()))
    if now - used_at > IDLE_SECONDS or len(entry.scopes) > SCOPES_MAX:
        del entry.scopes[oldest]
        entry.state.snapshots.pop(oldest, None)


def forget(slug: str) -> None:
    """Drop the data of a cluster, when it was removed or its address changed."""
    with _entries_lock:
        _entries.pop(slug, None)
    process_memory.release()


_PUBLIC_SCOPE = Scope(hidden_topics=NAMES)  # for callers without rights, such as /readyz


def _scope_of(rights: Rights | None) -> Scope:
    return _PUBLIC_SCOPE if rights is None else rights.scope


def snapshot(slug: str, rights: Rights) -> Snapshot | None:
    """The snapshot of the newest ok tick, within the scope of these rights; None = none yet."""
    scope = _scope_of(rights)
    return _fresh_entry(slug, scope).state.snapshot(scope)


def recent_totals(slug: str, rights: Rights) -> list[Totals | None]:
    """The totals of the last ticks, oldest first; None for a gap."""
    scope = _scope_of(rights)
    entry = _fresh_entry(slug, scope)
    if scope not in entry.state.points and entry.state.columns is not None:
        with entry.lock:  # only on the first use of a scope
            _add_points(slug, entry, scope)
    return list(entry.state.points.get(scope, ()))


def sample_status(slug: str, rights: Rights | None = None) -> SampleStatus:
    """The current status of the samples; cheap. Without rights, nothing hidden is included."""
    scope = _scope_of(rights)
    state = _fresh_entry(slug, scope).state
    found = status_of(slug, state.newest, state.snapshot(scope), scope)
    if state.unreadable:
        reason, since_ms = str(state.unreadable), state.unreadable_since_ms
        found = replace(found, state="unreadable", reason=reason, since_ms=since_ms, problems=None)
    return found


def refresh(slug: str, *, at_once: bool = False, announced: int | None = None) -> None:
    """Check for newer ticks and wait for the result: `at_once`, or if a tick was `announced`.

    For callers that can wait, such as the sockets of pages.
    """
    entry = _entry(slug)
    if announced is not None and _has_tick(entry.state, announced):
        return
    with entry.lock:
        if announced is not None:
            if _has_tick(entry.state, announced):
                return  # another socket has done it already
            at_once = True
        if at_once:
            reset_backoff()  # the announcement came through Redis, so Redis answers
        if at_once or entry.is_due:
            _update(slug, entry)


def _has_tick(state: _ClusterData, number: int) -> bool:
    return state.newest is not None and state.newest.tick >= number and not state.unreadable


def _fresh_entry(slug: str, scope: Scope) -> _CacheEntry:
    """The cluster's entry, after a check for newer ticks was started, if it is due."""
    entry = _entry(slug, scope)
    newest = entry.state.newest
    if not entry.is_due:
        return entry
    if newest is None:
        with entry.lock:
            if entry.is_due:
                _update(slug, entry)
    elif entry.lock.acquire(blocking=False):
        if is_late(newest):  # not used for a while, or nothing is sampled
            _update_and_release(slug, entry)
        else:
            _start_update(slug, entry)
    return entry


def _start_update(slug: str, entry: _CacheEntry) -> None:
    thread = threading.Thread(
        target=_update_and_release, args=(slug, entry), name=f"snapshot of {slug}", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:  # no thread could be started; the next request tries again
        entry.lock.release()
        log.warning("the snapshot of cluster %s was not updated: no thread can be started", slug)


def _update_and_release(slug: str, entry: _CacheEntry) -> None:
    try:
        _update(slug, entry)
    except Exception:
        log.exception("the snapshot of cluster %s was not updated", slug)
    finally:
        entry.lock.release()


def _update(slug: str, entry: _CacheEntry) -> None:
    entry.checked_at = time.monotonic()
    try:
        found = _read_newer_ticks(slug, entry.state, tuple(entry.scopes))
        entry.state = replace(found, unreadable="", unreadable_since_ms=None)
    except RedisDown:
        text = gettext_lazy("Redis, which holds the samples, does not answer.")
        entry.state = _mark_unreadable(entry.state, text)
    except ValueError as error:
        entry.state = _mark_unreadable(entry.state, str(error))


def _mark_unreadable(state: _ClusterData, reason: str | Promise) -> _ClusterData:
    since_ms = state.unreadable_since_ms or now_ms()
    return replace(state, unreadable=reason, unreadable_since_ms=since_ms)


def _read_newer_ticks(slug: str, state: _ClusterData, scopes: Iterable[Scope]) -> _ClusterData:
    """Read newer ticks: usually none or one, at first as many as the sparklines show."""
    if state.newest is not None:
        newer = tick_stream.ticks_after(slug, state.newest.start_ms, 2)
        if len(newer) < 2:
            for tick in newer:
                state = _add_tick(state, tick, scopes)
            return state
    newest = tick_stream.latest_tick(slug)
    if newest is None:
        return state
    since_ms = _sparkline_start_ms(newest)
    if state.newest is not None:
        since_ms = max(since_ms, state.newest.start_ms + 1)
    for tick in tick_stream.recent_ticks(slug, since_ms):
        state = _add_tick(state, tick, scopes)
    if state.columns is None and (last := tick_stream.last_ok_tick(slug)) is not None:
        state = replace(state, columns=TickColumns.of(last), snapshots={})
    if _is_large(newest):
        process_memory.release()  # the memory of the past ticks, of which only points are kept
    return state


def _is_large(tick: Tick) -> bool:
    return len(tick.partitions) + len(tick.groups) >= LARGE_ROWS


def _sparkline_start_ms(newest: Tick) -> int:
    """The start of the sparklines."""
    points = POINTS_LARGE if _is_large(newest) else POINTS_MAX
    return newest.start_ms - points * newest.interval_ms


def _add_tick(state: _ClusterData, tick: Tick, scopes: Iterable[Scope]) -> _ClusterData:
    """The data after one more tick.

    A scope whose earlier points were not read gets none here: `_add_points` reads them all.
    """
    if not tick.ok:
        points = {scope: _add_point(line, None) for scope, line in state.points.items()}
        return replace(state, newest=tick, points=points)
    after = replace(
        state, newest=tick, columns=TickColumns.of(tick, state.columns), points={}, snapshots={}
    )
    points = {}
    for scope in scopes:
        known = state.columns is None or scope in state.points
        found = after.snapshot(scope) if known else None
        if found is not None:
            points[scope] = _add_point(state.points.get(scope, ()), found.totals)
    return replace(after, points=points)


def _add_point(line: Points, point: Totals | None) -> Points:
    return (*line, point)[-POINTS_MAX:]


def _add_points(slug: str, entry: _CacheEntry, scope: Scope) -> None:
    """The sparkline points of a new scope, for the ticks up to the current one."""
    state = entry.state
    if scope in state.points or state.newest is None:
        return
    past = _ClusterData()
    try:
        for tick in tick_stream.recent_ticks(slug, _sparkline_start_ms(state.newest)):
            if tick.tick <= state.newest.tick:
                past = _add_tick(past, tick, (scope,))
    except (RedisDown, ValueError):
        return  # the status reports it
    entry.state = replace(state, points={**state.points, scope: past.points.get(scope, ())})
    if _is_large(state.newest):
        process_memory.release()
