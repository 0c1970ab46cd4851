"""How the samples of a cluster stand, from what the snapshot cache knows of it. Pure but for the
clock.
"""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from console.ui.texts import sentence, translated
from monitoring.clock import now_ms
from monitoring.scope import EVERYTHING
from monitoring.ticks.tick import Tick
from monitoring.views.rows import BrokerRow
from monitoring.views.snapshot import Snapshot

LATE_INTERVALS, LATE_SLACK_MS = 2, 1500  # static/app/live.js waits as long


@dataclass(frozen=True, slots=True)
class Troubles:
    """What of a cluster that answers is away or untrue; made for one scope."""

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


def status_of(slug: str, head: Tick | None, snapshot: Snapshot | None) -> Status:
    """Of the newest tick, be it a gap, and the snapshot of the newest good one."""
    at_ms = snapshot.at_ms if snapshot else None
    status = Status(
        slug=slug,
        at_ms=at_ms,
        age_ms=now_ms() - at_ms if at_ms is not None else None,
        source=_("sampler"),
        tick=head.tick if head else None,
    )
    if head is None:
        return status
    if is_late(head):
        return replace(status, state="stale", since_ms=head.at_ms)
    if not head.ok or snapshot is None:
        return replace(status, state="gap", reason=sentence(head.reason), since_ms=at_ms)
    troubles = _troubles(snapshot)
    if not troubles:
        return replace(status, state="ok", reason=translated(head.reason))
    return replace(
        status,
        state="partial",
        reason=translated(head.reason),
        since_ms=troubles.since_ms,
        troubles=troubles,
    )


def _troubles(snapshot: Snapshot) -> Troubles:
    totals, since = snapshot.totals, snapshot.tick.since
    return Troubles(
        leaderless=totals.offline,
        leaderless_since_ms=since.get("leaderless") if totals.offline else None,
        partitions=totals.partitions,
        brokers_down=tuple(broker for broker in snapshot.brokers if not broker.up),
        groups_silent=totals.groups_silent,
        groups_complete=snapshot.tick.groups_complete,
        zookeeper_since_ms=since.get("zookeeper"),
        refused=_refused(snapshot),
    )


def _refused(snapshot: Snapshot) -> tuple[str, ...]:
    """The sentences may name what is outside the scope: who has one learns only that there are."""
    refused = tuple(map(translated, snapshot.tick.refused))
    if snapshot.scope == EVERYTHING or not refused:
        return refused
    return (_("An admin sees what it is."),)


def is_late(tick: Tick) -> bool:
    """Whether the next tick, which may take most of its interval, should have come by now."""
    return now_ms() - tick.at_ms > LATE_INTERVALS * tick.interval_ms + LATE_SLACK_MS
