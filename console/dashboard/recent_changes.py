"""What changed in a cluster: alerts, rebalances, brokers, and the changes that people made."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.alerts.visible_alerts import alerts_in_scope
from console.audit import visible_entries
from console.audit.models import AuditEntry
from console.ui.links import group_url
from monitoring.models import Alert, Cluster
from monitoring.read_model.broker_changes import BrokerChange
from monitoring.read_model.snapshot import Snapshot
from monitoring.topic_names import is_topic_name

CHANGES_MAX = 8
# Reads of records are in the audit log, too, and change nothing.
_AUDITED_ACTIONS = (
    r"^((topics?|group|broker|quota|cluster|alert|masking|report)\.|record\.(write|copy|mock)$)"
)


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the list: the name `subject`, then `text`, the rest of the sentence."""

    at_ms: int
    subject: str
    text: str
    url: str
    tone: str = ""
    audit_url: str = ""  # the entries of that day


def changes(cluster: Cluster, rights: Rights, snapshot: Snapshot) -> list[Change]:
    """The newest changes that the user may see, the newest first."""
    found = [*_rebalances(cluster.slug, snapshot), *_brokers(cluster.slug, snapshot)]
    if rights.may("alert.view"):
        found += _alerts(cluster, rights)
    if rights.may("audit.view"):
        found += _audited_changes(cluster, rights)
    return sorted(found, key=lambda change: change.at_ms, reverse=True)[:CHANGES_MAX]


def _alerts(cluster: Cluster, rights: Rights) -> Iterator[Change]:
    newest = Alert.objects.filter(alerts_in_scope(rights), cluster=cluster).select_related("rule")
    url = reverse("alerts", args=[cluster.slug])
    for alert in newest[:CHANGES_MAX]:
        text = _("alert of %(group)s fired") % {"group": alert.group}
        yield Change(alert.fired_at_ms, alert.rule.name, text, url, "bad")
        if alert.resolved_at_ms is not None:
            text = _("alert of %(group)s ended") % {"group": alert.group}
            yield Change(alert.resolved_at_ms, alert.rule.name, text, url)


def _rebalances(slug: str, snapshot: Snapshot) -> Iterator[Change]:
    for group, found in snapshot.columns.rebalances.by_group.items():
        if not snapshot.has_group(group):
            continue
        for each in found[-CHANGES_MAX:]:
            text = _("rebalanced, %(before)s → %(after)s members") % {
                "before": each.members_before,
                "after": each.members,
            }
            yield Change(each.at_ms, group, text, group_url(slug, group))


def _brokers(slug: str, snapshot: Snapshot) -> Iterator[Change]:
    found = {(each.broker, each.at_ms): each for each in snapshot.columns.broker_changes}
    for broker in snapshot.brokers:  # also those that left before the first sample that was read
        if not broker.up and broker.down_since_ms is not None:
            key = (broker.id, broker.down_since_ms)
            found[key] = BrokerChange(broker.down_since_ms, broker.id, is_up=False)
    for each in found.values():
        name = _("Broker %(id)s") % {"id": each.broker}
        url = reverse("broker", args=[slug, each.broker])
        text = _("is back") if each.is_up else _("left the cluster")
        yield Change(each.at_ms, name, text, url, "" if each.is_up else "bad")


def _audited_changes(cluster: Cluster, rights: Rights) -> Iterator[Change]:
    """Successful changes in the audit log, which only admins may see."""
    entries = visible_entries.of_cluster(cluster.slug, rights.scope).filter(
        outcome="ok", action__regex=_AUDITED_ACTIONS
    )
    for entry in entries.order_by("-id")[:CHANGES_MAX]:
        at_ms = int(entry.at.timestamp() * 1000)
        text = f"{entry.action} {entry.resource}".strip()
        page = _page_of(cluster.slug, entry)
        day_url = audit_url(cluster.slug, entry.at.date())
        yield Change(at_ms, entry.actor_name, text, page, audit_url=day_url)


def audit_url(slug: str, day: date) -> str:
    """The audit log of a cluster on a day (UTC)."""
    query = urlencode({"first": day.isoformat(), "last": day.isoformat()})
    return f"{reverse('cluster-audit', args=[slug])}?{query}"


def _page_of(slug: str, entry: AuditEntry) -> str:
    """The page of what was changed; empty if there is none."""
    if entry.action.endswith(".delete"):
        return ""
    if entry.action.startswith("topic.") and is_topic_name(entry.resource):
        return reverse("topic", args=[slug, entry.resource])
    if entry.action.startswith("group."):
        return group_url(slug, entry.resource) if entry.resource else ""
    return ""
