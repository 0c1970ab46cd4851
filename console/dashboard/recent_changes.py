"""What changed in a cluster: alerts, rebalances, brokers, and the changes that people made."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.accounts.rights import Rights
from console.actions.models import DONE, Plan
from console.actions.plan_readers import may_read
from console.alerts.visible_alerts import alerts_in_scope
from console.audit import visible_entries
from console.audit.models import AuditEntry
from console.ui.links import group_url
from console.ui.numbers import count
from monitoring.models import Alert, Cluster, ClusterEvent
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import EVERYTHING
from monitoring.scope_as_sql import shows_group
from monitoring.topic_names import is_topic_name

# Reads of records are in the audit log, too, and change nothing.
_AUDITED_ACTIONS = (
    r"^((topics?|group|broker|quota|schema|cluster|alert|masking|report)\."
    r"|record\.(write|copy|mock)$)"
)
_REBALANCES = (ClusterEvent.Kind.REBALANCE, ClusterEvent.Kind.EARLIER_REBALANCES)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the list: the name `subject`, then `text`, the rest of the sentence."""

    at_ms: int
    subject: str
    text: str
    url: str
    tone: str = ""
    details_url: str = ""  # the plan, or the audit log of that day


@dataclass(frozen=True, slots=True)
class Span:
    """The time of the changes that are listed, `end` excluded; None = no limit."""

    start: datetime | None = None
    end: datetime | None = None

    def contains(self, field: str, value: Callable[[datetime], object]) -> Q:
        """The rows whose `field` is in the span; `value` converts a time to the field's type."""
        found = Q()
        if self.start is not None:
            found &= Q((f"{field}__gte", value(self.start)))
        if self.end is not None:
            found &= Q((f"{field}__lt", value(self.end)))
        return found

    def has_ms(self, at_ms: int) -> bool:
        is_late_enough = self.start is None or _ms(self.start) <= at_ms
        return is_late_enough and (self.end is None or at_ms < _ms(self.end))


def changes(
    cluster: Cluster,
    rights: Rights,
    snapshot: Snapshot | None,
    changes_max: int,
    span: Span = Span(),
) -> list[Change]:
    """The newest changes in the span that the user may see, the newest first."""
    found = list(islice(_events(cluster, rights, snapshot, span), changes_max))
    known = {(change.url, change.at_ms) for change in found}
    for change in _brokers_down(cluster.slug, snapshot):
        if span.has_ms(change.at_ms) and (change.url, change.at_ms) not in known:
            found.append(change)
    if rights.may("alert.view"):
        found += _alerts(cluster, rights, span, changes_max)
    if rights.may("audit.view"):
        found += _audited_changes(cluster, rights, span, changes_max)
    elif rights.may("plan.view"):
        found += islice(_plans(cluster, rights, span), changes_max)
    return sorted(found, key=lambda change: change.at_ms, reverse=True)[:changes_max]


def _events(
    cluster: Cluster, rights: Rights, snapshot: Snapshot | None, span: Span
) -> Iterator[Change]:
    """The rebalances and the brokers that left or came back, the newest first."""
    is_rebalance = Q(kind__in=_REBALANCES)
    rows = ClusterEvent.objects.filter(
        span.contains("at_ms", _ms),
        (is_rebalance & shows_group(rights.scope, "name")) | ~is_rebalance,
        cluster=cluster,
    )
    brokers = {row.id for row in snapshot.brokers} if snapshot else set()
    for event in rows.iterator(chunk_size=100):
        if event.kind not in _REBALANCES:
            yield _broker_change(cluster.slug, event, brokers)
            continue
        is_there = snapshot is not None and snapshot.has_group(event.name)
        # What a group read that is gone is not known: perhaps only topics outside of the scope.
        if is_there or rights.scope == EVERYTHING:
            text = _rebalance_text(event)
            url = group_url(cluster.slug, event.name) if is_there else ""
            yield Change(event.at_ms, event.name, text, url)


def _rebalance_text(event: ClusterEvent) -> str:
    """How the number of members changed, else how many partitions have another owner; of a row
    that counts rebalances, their number."""
    if event.kind == ClusterEvent.Kind.EARLIER_REBALANCES:
        text = ngettext(
            "rebalanced %(n)s more time before, on this day",
            "rebalanced %(n)s more times before, on this day",
            event.count or 0,
        )
        return text % {"n": count(event.count or 0)}
    if event.members_before != event.members:
        text = _("rebalanced, %(before)s → %(after)s members")
        return text % {"before": event.members_before, "after": event.members}
    text = ngettext(
        "rebalanced, %(n)s partition has another owner",
        "rebalanced, %(n)s partitions have other owners",
        event.moved or 0,
    )
    return text % {"n": count(event.moved or 0)}


def _broker_change(slug: str, event: ClusterEvent, brokers: set[int]) -> Change:
    broker, is_back = int(event.name), event.kind == ClusterEvent.Kind.BROKER_BACK
    name = _("Broker %(id)s") % {"id": broker}
    url = reverse("broker", args=[slug, broker]) if broker in brokers else ""
    text = _("is back") if is_back else _("left the cluster")
    return Change(event.at_ms, name, text, url, "" if is_back else "bad")


def _brokers_down(slug: str, snapshot: Snapshot | None) -> Iterator[Change]:
    """The brokers that are down, also those that left before the first sample."""
    for broker in snapshot.brokers if snapshot else ():
        if not broker.up and broker.down_since_ms is not None:
            name = _("Broker %(id)s") % {"id": broker.id}
            url = reverse("broker", args=[slug, broker.id])
            yield Change(broker.down_since_ms, name, _("left the cluster"), url, "bad")


def _alerts(cluster: Cluster, rights: Rights, span: Span, alerts_max: int) -> Iterator[Change]:
    rows = Alert.objects.filter(alerts_in_scope(rights), cluster=cluster).select_related("rule")
    url = reverse("alerts", args=[cluster.slug])
    for alert in rows.filter(span.contains("fired_at_ms", _ms))[:alerts_max]:
        text = _("alert of %(group)s fired") % {"group": alert.group}
        yield Change(alert.fired_at_ms, alert.rule.name, text, url, "bad")
    ended = rows.filter(span.contains("resolved_at_ms", _ms), resolved_at_ms__isnull=False)
    for alert in ended.order_by("-resolved_at_ms")[:alerts_max]:
        text = _("alert of %(group)s ended") % {"group": alert.group}
        yield Change(alert.resolved_at_ms or 0, alert.rule.name, text, url)


def _audited_changes(
    cluster: Cluster, rights: Rights, span: Span, entries_max: int
) -> Iterator[Change]:
    """Successful changes in the audit log, which only admins may see."""
    entries = visible_entries.of_cluster(cluster.slug, rights.scope).filter(
        span.contains("at", lambda time: time), outcome="ok", action__regex=_AUDITED_ACTIONS
    )
    for entry in entries.order_by("-id")[:entries_max]:
        day_url = audit_url(cluster.slug, entry.at.date())
        yield _personal_change(cluster.slug, entry, entry.at, entry.actor_name, day_url)


def _plans(cluster: Cluster, rights: Rights, span: Span) -> Iterator[Change]:
    """The plans that were applied, of those that the user may read, the newest first."""
    done = Plan.objects.filter(
        span.contains("last_progress_at", lambda time: time), cluster=cluster.slug, state=DONE
    ).defer("facts", "draft", "step_states", "item_outcomes")
    for plan in done.order_by("-last_progress_at").iterator(chunk_size=10):
        if plan.last_progress_at is not None and may_read(plan, rights):
            url = reverse("plan", args=[cluster.slug, plan.pk])
            yield _personal_change(
                cluster.slug, plan, plan.last_progress_at, plan.confirmed_by, url
            )


def _personal_change(
    slug: str, made: AuditEntry | Plan, at: datetime, user: str, details_url: str
) -> Change:
    """A change that a person made."""
    text = f"{made.action} {made.resource}".strip()
    return Change(_ms(at), user, text, _page_of(slug, made), details_url=details_url)


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)


def audit_url(slug: str, day: date) -> str:
    """The audit log of a cluster on a day (UTC)."""
    query = urlencode({"first": day.isoformat(), "last": day.isoformat()})
    return f"{reverse('cluster-audit', args=[slug])}?{query}"


def _page_of(slug: str, entry: AuditEntry | Plan) -> str:
    """The page of what was changed; empty if there is none."""
    if entry.action.endswith(".delete"):
        return ""
    if entry.action.startswith("topic.") and is_topic_name(entry.resource):
        return reverse("topic", args=[slug, entry.resource])
    if entry.action.startswith("group."):
        return group_url(slug, entry.resource) if entry.resource else ""
    return ""
