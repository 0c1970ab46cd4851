"""The status of a cluster's samples. Pure except for the clock."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from console.ui.texts import sentence
from monitoring.clock import now_ms
from monitoring.error_reason import Reason
from monitoring.read_model.row_types import BrokerRow
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import EVERYTHING, Scope
from monitoring.ticks.tick import Tick
from monitoring.translate_error_reason import translated

LATE_INTERVALS, LATE_SLACK_MS = 2, 1500  # static/app/live.js waits as long


@dataclass(frozen=True, slots=True)
class Outages:
    """What does not answer or has no leader in a cluster that answers, within one scope; and its
    invalid values."""

    leaderless: int = 0
    leaderless_since_ms: int | None = None
    partitions: int = 0  # of the scope, in total
    brokers_down: tuple[BrokerRow, ...] = ()
    groups_silent: int = 0
    zookeeper_since_ms: int | None = None
    invalid: tuple[str, ...] = ()  # invalid values of the cluster

    def __bool__(self) -> bool:
        return bool(
            self.leaderless
            or self.brokers_down
            or self.groups_silent
            or self.zookeeper_since_ms
            or self.invalid
        )

    @property
    def led_by_brokers_down(self) -> int:
        """The number of partitions whose leader does not answer, also before the cluster elects
        others."""
        return sum(broker.leaders for broker in self.brokers_down)

    @property
    def since_ms(self) -> int | None:
        """When the oldest of these began; None = unknown."""
        down = [broker.down_since_ms for broker in self.brokers_down]
        known = [at for at in (self.leaderless_since_ms, self.zookeeper_since_ms, *down) if at]
        return min(known, default=None)


@dataclass(frozen=True, slots=True)
class SampleStatus:
    """The status of a cluster's samples.

    Attributes:
        state: ok | partial (the cluster has `outages`) | gap (sampling fails: `reason`)
            | stale (no new ticks) | none (never sampled) | unreadable (Redis is down).
        at_ms: the time of the sample that is shown, or None; age_ms: its age.
        tick: the number of the newest tick, gap or not.
        since_ms: when the problem began, or None if unknown.
    """

    slug: str = ""
    state: str = "none"
    at_ms: int | None = None
    age_ms: int | None = None
    reason: str = ""
    tick: int | None = None
    since_ms: int | None = None
    outages: Outages | None = None

    @property
    def is_live(self) -> bool:
        return self.state in ("ok", "partial")


def status_of(
    slug: str, newest: Tick | None, snapshot: Snapshot | None, scope: Scope = EVERYTHING
) -> SampleStatus:
    """The status for a scope. `newest`: the newest tick, gap or not; `snapshot`: of the newest ok
    tick."""
    at_ms = snapshot.at_ms if snapshot else None
    status = SampleStatus(
        slug=slug,
        at_ms=at_ms,
        age_ms=now_ms() - at_ms if at_ms is not None else None,
        tick=newest.tick if newest else None,
    )
    if newest is None:
        return status
    if is_late(newest):
        return replace(status, state="stale", since_ms=newest.at_ms)
    if not newest.ok or snapshot is None:
        reason = sentence(_redacted(newest.reason, scope))
        return replace(status, state="gap", reason=reason, since_ms=at_ms)
    outages = _outages(snapshot)
    if not outages:
        return replace(status, state="ok", reason=translated(_redacted(newest.reason, scope)))
    return replace(
        status,
        state="partial",
        reason=translated(_redacted(newest.reason, scope)),
        since_ms=outages.since_ms,
        outages=outages,
    )


def _outages(snapshot: Snapshot) -> Outages:
    totals, since = snapshot.totals, snapshot.tick.since
    return Outages(
        leaderless=totals.offline,
        leaderless_since_ms=since.get("leaderless") if totals.offline else None,
        partitions=totals.partitions,
        brokers_down=tuple(broker for broker in snapshot.brokers if not broker.up),
        groups_silent=totals.groups_silent,
        zookeeper_since_ms=since.get("zookeeper"),
        invalid=_invalid(snapshot),
    )


def _invalid(snapshot: Snapshot) -> tuple[str, ...]:
    """Why values are invalid, as texts, without duplicates and without names outside the scope."""
    scope = snapshot.scope
    texts = [
        translated(_redacted(reason, scope)) if isinstance(reason, Reason) or scope == EVERYTHING
        else _only_admins_see()  # text of an older version: it may contain any name
        for reason in snapshot.tick.invalid
    ]  # fmt: skip
    return tuple(dict.fromkeys(texts))


def _redacted(reason: str, scope: Scope) -> str:
    """The reason, or another text if it names something outside the scope."""
    shows = {"topic": scope.shows_topic, "group": scope.shows_group}
    return reason if all(shows[kind](name) for kind, name in _names(reason)) else _only_admins_see()


def _only_admins_see() -> str:
    return _("An admin can see the details.")


def _names(value: Any) -> Iterator[tuple[str, str]]:
    """("topic" or "group", name) for each name in a reason and its nested reasons."""
    if isinstance(value, list):
        for item in value:
            yield from _names(item)
    elif isinstance(value, Reason):
        for key, param in value.params.items():
            # A name is in the parameter `topic` or `group`, or in `name` of a code `topic_name`.
            kind = value.code.removesuffix("_name") if key == "name" else key
            if kind in ("topic", "group"):
                yield kind, str(param)
            else:
                yield from _names(param)


def is_late(tick: Tick) -> bool:
    """Whether the next tick is overdue; a tick can take most of its interval."""
    return now_ms() - tick.at_ms > LATE_INTERVALS * tick.interval_ms + LATE_SLACK_MS
