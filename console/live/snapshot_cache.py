"""Caches the newest snapshot of each cluster in this web process.

Pages call `snapshot(slug, rights)`, `sample_status(slug, rights)` and
`recent_totals(slug, rights)`. They never query a broker. Redis is queried only for newer ticks: at
most every CHECK_SECONDS per cluster, or when a tick was announced (`refresh`). A gap or an
unavailable Redis changes the status; the figures stay those of the last ok tick, with their age.

The data of a cluster is a value (`_ClusterData`) that is replaced as a whole; it is immutable but
for `snapshots`, which is filled on use. One thread at a time reads and computes the next one,
outside of requests; until it is ready, requests get the current one at once. A request waits only
if there is no data yet, or if the last tick is late. Data is cached per scope
(monitoring/scope.py), for the most recently used scopes of each cluster. A scope that shows
everything shares the data of the whole cluster.

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
from monitoring import console_topics, process_memory
from monitoring.clock import now_ms
from monitoring.read_model.row_types import Totals
from monitoring.read_model.snapshot import Snapshot
from monitoring.read_model.tick_columns import TickColumns
from monitoring.redis_client import RedisDown, reset_backoff
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks import tick_stream
from monitoring.ticks.tick import Tick

CHECK_SECONDS = 1.0
SPARKLINE_POINTS_MAX = 60
# For a large cluster, a process that has just started reads fewer past ticks.
LARGE_ROWS, POINTS_LARGE = 20_000, 6
CLUSTERS_MAX = 256
SCOPES_MAX = 32  # of one cluster
IDLE_SECONDS = 300.0
log = logging.getLogger(__name__)

Points = tuple[Totals | None, ...]  # of one scope, the oldest first; None = a gap


@dataclass(frozen=True, slots=True)
class _ClusterData:
    """The cached data of one cluster; immutable but for `snapshots`, which is filled on use."""

    newest: Tick | None = None  # the newest tick, gap or not
    columns: TickColumns | None = None  # of the newest ok tick
    points: Mapping[Scope, Points] = field(default_factory=dict)  # of the sparklines
    snapshots: dict[Scope, Snapshot] = field(default_factory=dict)  # of `columns`
    unreadable_reason: str | Promise = ""  # why the samples cannot be read; "" = they can
    unreadable_since_ms: int | None = None

    def snapshot(self, scope: Scope) -> Snapshot | None:
        """The snapshot of a scope; None = there was no ok tick.

        It is made on first use, perhaps by two threads at the same time.
        """
        if self.columns is None:
            return None
        found = self.snapshots.get(scope)
        if found is None:
            found = Snapshot(self.columns, scope)
            # Not shared if the tick has invalid values: the scope of the snapshot decides which of
            # them the status names.
            if scope != EVERYTHING and found.shows_all and not self.columns.tick.invalid:
                found = self.snapshots.setdefault(EVERYTHING, Snapshot(self.columns))
            self.snapshots[scope] = found
        return found


@dataclass(slots=True)
class _CacheEntry:
    """The cache entry of one cluster. `lock` is held to read newer ticks and to replace `data`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    used_at: float = field(default_factory=time.monotonic)
    checked_at: float = -1e9  # never
    data: _ClusterData = field(default_factory=_ClusterData)
    # Scope → when it was last used; the most recent last.
    scopes: dict[Scope, float] = field(default_factory=dict)

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self.checked_at >= CHECK_SECONDS


_entries: dict[str, _CacheEntry] = {}
_entries_lock = threading.Lock()  # only held for short operations


def _use_entry(slug: str, scope: Scope | None = None) -> _CacheEntry:
    """The cluster's entry; records the use of it and of the scope, and drops unused entries."""
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
        entry.data.snapshots.pop(oldest, None)


def forget(slug: str) -> None:
    """Drop the data of a cluster, when it was removed or its address changed."""
    with _entries_lock:
        _entries.pop(slug, None)
    process_memory.release()


# For callers without rights, such as /readyz.
_PUBLIC_SCOPE = Scope(hidden_topics=console_topics.NAMES)


def _scope_of(rights: Rights | None) -> Scope:
    return _PUBLIC_SCOPE if rights is None else rights.scope


def snapshot(slug: str, rights: Rights) -> Snapshot | None:
    """The snapshot of the newest ok tick, within the scope of these rights; None = none yet."""
    scope = _scope_of(rights)
    return _entry_updating_if_due(slug, scope).data.snapshot(scope)


def recent_totals(slug: str, rights: Rights) -> list[Totals | None]:
    """The totals of the last ticks, oldest first; None for a gap."""
    scope = _scope_of(rights)
    entry = _entry_updating_if_due(slug, scope)
    if scope not in entry.data.points and entry.data.columns is not None:
        with entry.lock:  # only on the first use of a scope
            _read_points(slug, entry, scope)
    return list(entry.data.points.get(scope, ()))


def sample_status(slug: str, rights: Rights | None = None) -> SampleStatus:
    """The current status of the samples; cheap. Without rights, nothing hidden is included."""
    scope = _scope_of(rights)
    data = _entry_updating_if_due(slug, scope).data
    found = status_of(slug, data.newest, data.snapshot(scope), scope)
    if data.unreadable_reason:
        reason, since_ms = str(data.unreadable_reason), data.unreadable_since_ms
        found = replace(found, state="unreadable", reason=reason, since_ms=since_ms, outages=None)
    return found


def refresh(slug: str, announced_tick: int | None = None) -> None:
    """Read newer ticks now, and wait for the result, unless the announced tick is there already.

    For callers that can wait, such as the sockets of pages.
    """
    entry = _use_entry(slug)
    if _has_tick(entry.data, announced_tick):
        return
    with entry.lock:
        if _has_tick(entry.data, announced_tick):
            return  # another socket has read it meanwhile
        reset_backoff()  # the socket was opened, or the tick announced, through Redis: it answers
        _update(slug, entry)


def _has_tick(data: _ClusterData, number: int | None) -> bool:
    """Whether the data has this tick or a newer one; False for None."""
    if number is None or data.newest is None or data.unreadable_reason:
        return False
    return data.newest.tick >= number


def _entry_updating_if_due(slug: str, scope: Scope) -> _CacheEntry:
    """The cluster's entry. If a check for newer ticks is due, it is started in a thread; the caller
    waits for it only if there is no data yet, or the last tick is late."""
    entry = _use_entry(slug, scope)
    newest = entry.data.newest
    if newest is None:
        with entry.lock:
            if entry.is_due:
                _update(slug, entry)
    elif is_late(newest):  # the cluster was not shown for a while, or is not sampled
        with entry.lock:  # another request may read it just now
            if entry.is_due:
                _update_or_log(slug, entry)
    elif entry.is_due and entry.lock.acquire(blocking=False):
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
        _update_or_log(slug, entry)
    finally:
        entry.lock.release()


def _update_or_log(slug: str, entry: _CacheEntry) -> None:
    try:
        _update(slug, entry)
    except Exception:
        log.exception("the snapshot of cluster %s was not updated", slug)


def _update(slug: str, entry: _CacheEntry) -> None:
    entry.checked_at = time.monotonic()
    try:
        found = _read_newer_ticks(slug, entry.data, tuple(entry.scopes))
        entry.data = replace(found, unreadable_reason="", unreadable_since_ms=None)
    except RedisDown:
        text = gettext_lazy("Redis, which holds the samples, does not answer.")
        entry.data = _mark_unreadable(entry.data, text)
    except ValueError as error:
        entry.data = _mark_unreadable(entry.data, str(error))


def _mark_unreadable(data: _ClusterData, reason: str | Promise) -> _ClusterData:
    since_ms = data.unreadable_since_ms or now_ms()
    return replace(data, unreadable_reason=reason, unreadable_since_ms=since_ms)


def _read_newer_ticks(slug: str, data: _ClusterData, scopes: Iterable[Scope]) -> _ClusterData:
    """Read newer ticks: usually none or one, at first as many as the sparklines show."""
    if data.newest is not None:
        newer = tick_stream.ticks_after(slug, data.newest.start_ms, 2)
        if len(newer) < 2:
            for tick in newer:
                data = _add_tick(data, tick, scopes)
            return data
    newest = tick_stream.latest_tick(slug)
    if newest is None:
        return data
    since_ms = _sparkline_start_ms(newest)
    if data.newest is not None:
        since_ms = max(since_ms, data.newest.start_ms + 1)
    for tick in tick_stream.recent_ticks(slug, since_ms):
        data = _add_tick(data, tick, scopes)
    if data.columns is None and (last := tick_stream.last_ok_tick(slug)) is not None:
        data = replace(data, columns=TickColumns.of(last), snapshots={})
    if _is_large(newest):
        process_memory.release()  # the memory of the past ticks, of which only points are kept
    return data


def _is_large(tick: Tick) -> bool:
    return len(tick.partitions) + len(tick.groups) >= LARGE_ROWS


def _sparkline_start_ms(newest: Tick) -> int:
    """The time at which the sparklines start."""
    points = POINTS_LARGE if _is_large(newest) else SPARKLINE_POINTS_MAX
    return newest.start_ms - points * newest.interval_ms


def _add_tick(data: _ClusterData, tick: Tick, scopes: Iterable[Scope]) -> _ClusterData:
    """The data after one more tick.

    A scope whose earlier points were not read gets none here: `_read_points` reads them all.
    """
    if not tick.ok:
        points = {scope: _add_point(line, point=None) for scope, line in data.points.items()}
        return replace(data, newest=tick, points=points)
    after = replace(
        data, newest=tick, columns=TickColumns.of(tick, data.columns), points={}, snapshots={}
    )
    points = {}
    for scope in scopes:
        # Also true for the first ok tick, since it has no earlier points.
        has_all_earlier_points = data.columns is None or scope in data.points
        found = after.snapshot(scope) if has_all_earlier_points else None
        if found is not None:
            points[scope] = _add_point(data.points.get(scope, ()), found.totals)
    return replace(after, points=points)


def _add_point(line: Points, point: Totals | None) -> Points:
    return (*line, point)[-SPARKLINE_POINTS_MAX:]


def _read_points(slug: str, entry: _CacheEntry, scope: Scope) -> None:
    """Read the sparkline points of a new scope, for the ticks up to the current one."""
    data = entry.data
    if scope in data.points or data.newest is None:
        return
    past = _ClusterData()
    try:
        for tick in tick_stream.recent_ticks(slug, _sparkline_start_ms(data.newest)):
            if tick.tick <= data.newest.tick:
                past = _add_tick(past, tick, (scope,))
    except (RedisDown, ValueError):
        return  # the status reports it
    entry.data = replace(data, points={**data.points, scope: past.points.get(scope, ())})
    if _is_large(data.newest):
        process_memory.release()
