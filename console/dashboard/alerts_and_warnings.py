"""Alerts and warnings of a cluster, the worst first: one row per cause, each with links.

Brokers that are down, partitions without a leader and coordinators that do not answer are in the
banner that all pages of the cluster have (templates/live/outage_banner.html).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.alerts.visible_alerts import FiringAlert
from console.brokers.broker_warnings import BrokerWarning
from console.ui import numbers
from console.ui.links import group_url
from monitoring.lag.lag_state import LagState
from monitoring.read_model.row_types import GroupOnTopicRow, GroupRow
from monitoring.read_model.snapshot import Snapshot

PROBLEMS_MAX = 5
# Stalled groups are named if they are among the _SEARCHED_MAX groups with the most lag; at most
# _NAMES_MAX of them.
_SEARCHED_MAX, _NAMES_MAX = 50, 3


@dataclass(frozen=True, slots=True)
class Link:
    """A button of a problem."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A row of the list.

    `tone` is bad or warn; `kind` is a short label, such as “Stalled”; `since_ms` = None if the
    start is unknown.
    """

    tone: str
    icon: str
    kind: str
    title: str
    text: str
    links: tuple[Link, ...]
    since_ms: int | None = None


def problems(
    slug: str,
    snapshot: Snapshot,
    alerts: list[FiringAlert],
    warnings: Mapping[int, list[BrokerWarning]],
) -> list[Problem]:
    """All problems in the newest sample; PROBLEMS_MAX of them are shown."""
    brokers = [_broker(slug, broker, each) for broker, each in warnings.items() if each]
    return [
        *(_alert(slug, each) for each in alerts),
        *(each for each in brokers if each.tone == "bad"),
        *_under_replicated(slug, snapshot),
        *_stalled_groups(slug, snapshot, alerts),
        *(each for each in brokers if each.tone != "bad"),
    ]


def _broker(slug: str, broker: int, warnings: list[BrokerWarning]) -> Problem:
    values = {"id": broker, "what": ", ".join(each.title for each in warnings)}
    text = " ".join(each.text for each in warnings)
    link = Link(_("Open the broker"), reverse("broker", args=[slug, broker]))
    worst = warnings[0]  # they come the worst first (broker_warnings.py)
    title = _("Broker %(id)s: %(what)s") % values
    return Problem(worst.tone, "alert-triangle", worst.kind, title, text, (link,))


def _under_replicated(slug: str, snapshot: Snapshot) -> Iterator[Problem]:
    """Replicas that are out of sync although all brokers are up."""
    totals = snapshot.totals
    count = totals.under_replicated
    if not count or totals.brokers_up < totals.brokers:
        return
    title = ngettext(
        "%(n)s partition is under-replicated", "%(n)s partitions are under-replicated", count
    )
    text = _("All brokers are up: replicas are slow, or are catching up after a restart.")
    link = Link(_("Topics"), reverse("topics", args=[slug]) + "?show=unhealthy")
    values = {"n": numbers.count(count)}
    kind = _("Under-replicated")
    yield Problem("warn", "alert-triangle", kind, title % values, text, (link,))


def _alert(slug: str, each: FiringAlert) -> Problem:
    alert = each.alert
    values = {"group": alert.group, "topic": alert.topic, "max": numbers.short(alert.threshold)}
    title = _("The lag of %(group)s is above %(max)s")
    if alert.topic:
        title = _("The lag of %(group)s on %(topic)s is above %(max)s")
    text = _("Lag now: %(lag)s · rule “%(rule)s”") % {
        "lag": _lag_text(each.row),
        "rule": alert.rule.name,
    }
    links = [Link(_("Alerts"), reverse("alerts", args=[slug]))]
    if url := group_url(slug, alert.group):
        links.insert(0, Link(_("Group"), url))
    kind, since_ms = _("Alert firing"), alert.fired_at_ms
    return Problem("bad", "bell-ringing", kind, title % values, text, tuple(links), since_ms)


def _lag_text(row: GroupRow | GroupOnTopicRow | None) -> str:
    """The lag with its growth, as far as they are known."""
    lag = numbers.count(None if row is None else row.lag)
    growth = row.lag_rate if isinstance(row, GroupRow) else None
    return lag if growth is None else f"{lag}, {numbers.change_rate(growth)}"


def _stalled_groups(slug: str, snapshot: Snapshot, alerts: list[FiringAlert]) -> Iterator[Problem]:
    """Groups whose worst partition is stalled, as one row; those with an alert have their own."""
    alerted = snapshot.groups_named({each.alert.group for each in alerts})
    count = snapshot.group_lag_states.get(LagState.STALLED, 0)
    count -= sum(group.lag_state == LagState.STALLED for group in alerted.values())
    if not count:
        return
    title = ngettext(
        "%(n)s group does not read some of its partitions any more",
        "%(n)s groups do not read some of their partitions any more",
        count,
    )
    behind = snapshot.groups_most_behind(_SEARCHED_MAX)
    stalled = [group.name for group in behind if group.lag_state == LagState.STALLED]
    names = [name for name in stalled if name not in alerted][:_NAMES_MAX]
    if names and count == 1:
        link = Link(_("Open the group"), reverse("group", args=[slug, names[0]]))
    else:
        link = Link(_("Groups"), reverse("groups", args=[slug]) + "?sort=-state")
    text = ", ".join(names) + (" …" if count > len(names) else "")
    values = {"n": numbers.count(count)}
    yield Problem("warn", "player-pause", _("Stalled"), title % values, text, (link,))
