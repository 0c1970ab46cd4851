"""Which alerts and deliveries a user sees; firing alerts with their lag in the latest sample."""

from dataclasses import dataclass

from django.db.models import Q

from console.accounts.rights import Rights
from monitoring.models import Alert, Cluster
from monitoring.read_model.row_types import GroupOnTopicRow, GroupRow
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope_as_sql import shows_group, shows_topic


@dataclass(frozen=True, slots=True)
class FiringAlert:
    """A firing alert and its subject's row in the latest sample; None = the subject is missing."""

    alert: Alert
    row: GroupRow | GroupOnTopicRow | None


def is_visible(alert: Alert, rights: Rights) -> bool:
    """Whether the alert's group and topic are within the user's scope."""
    scope = rights.scope
    return scope.shows_group(alert.group) and (not alert.topic or scope.shows_topic(alert.topic))


def alerts_in_scope(rights: Rights, prefix: str = "") -> Q:
    """`is_visible` as a database filter; `prefix` is the lookup from the row to the alert."""
    about_topic = shows_topic(rights.scope, f"{prefix}topic") | Q((f"{prefix}topic", ""))
    return shows_group(rights.scope, f"{prefix}group") & about_topic


def deliveries_in_scope(rights: Rights) -> Q:
    """A filter for deliveries: about visible alerts, or about no alert (tests)."""
    return Q(alert=None) | alerts_in_scope(rights, "alert__")


def firing_alerts(cluster: Cluster, rights: Rights, snapshot: Snapshot | None) -> list[FiringAlert]:
    """The firing alerts, newest first, with the lag in the latest sample."""
    firing = Alert.objects.filter(cluster=cluster, state=Alert.State.FIRING).select_related("rule")
    visible = [alert for alert in firing if is_visible(alert, rights)]
    groups = snapshot.groups_named({alert.group for alert in visible}) if snapshot else {}

    def row(alert: Alert) -> GroupRow | GroupOnTopicRow | None:
        if snapshot and alert.topic:
            return snapshot.group_on_topic(alert.group, alert.topic)
        return groups.get(alert.group)

    return [FiringAlert(alert, row(alert)) for alert in visible]
