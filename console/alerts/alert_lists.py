"""The live lists of alerts: firing and past alerts, rules, messages to webhooks."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.alerts import services
from console.alerts.tabs import alert_tabs
from console.alerts.visible_alerts import alerts_in_scope, deliveries_in_scope, firing_alerts
from console.egress.services import query_to_allow
from console.live import snapshot_cache
from console.ui.queryset_table import QuerySetTable
from console.ui.table import Column, Table
from monitoring.error_reason import loads
from monitoring.models import Alert, AlertDelivery, Cluster
from monitoring.translate_error_reason import translated


def alerts(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """The firing alerts with the lag in the latest sample, and the past alerts."""
    firing = firing_alerts(cluster, rights, snapshot_cache.snapshot(cluster.slug, rights))
    past = Alert.objects.filter(cluster=cluster, state=Alert.State.RESOLVED)
    columns = [
        Column("rule", _("Rule"), "rule__name"),
        Column("group", _("Group"), ("group", "topic")),
        Column("lag", _("Lag when it fired"), "lag", numeric=True),
        Column("peak", _("Peak"), "lag_peak", numeric=True),
        Column("fired", _("Fired"), "fired_at_ms", numeric=True),
        Column("lasted", _("Duration"), "lasted_ms", numeric=True),
        Column("why", _("Reason")),
    ]
    table = QuerySetTable(query, columns, "-fired", id="past")
    table.show(
        past.filter(alerts_in_scope(rights))
        .annotate(lasted_ms=F("resolved_at_ms") - F("fired_at_ms"))
        .select_related("rule"),
        ("rule__name", "group", "topic"),
    )
    return {
        "tabs": alert_tabs(cluster, "alerts", {"alerts": len(firing)}),
        "firing": firing,
        "table": table,
        "lines": [
            {
                "alert": alert,
                "lasted_s": (alert.lasted_ms or 0) / 1000,
                "reason": translated(loads(alert.resolved_reason)) or _("the lag fell"),
            }
            for alert in table.rows
        ],
        "has_rules": cluster.alert_rules.exists(),
        "may_edit": rights.may("alert.edit"),
    }


def rules(cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The rules of the cluster, with the number of matching groups and of alerts.

    In memory: a cluster has at most `services.RULES_MAX` rules, and a database query cannot check
    the scope.
    """
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    firing = Alert.objects.filter(cluster=cluster, state=Alert.State.FIRING)
    firing_rule_ids = list(firing.values_list("rule_id", flat=True))
    columns = [
        Column("name", _("Rule"), lambda rule: rule.name),
        Column("groups", _("Groups"), lambda rule: rule.group_pattern),
        Column("topics", _("Topics"), lambda rule: rule.topic_pattern),
        Column("lag", _("Lag threshold"), lambda rule: rule.threshold, numeric=True),
        Column("for", _("For"), lambda rule: rule.for_seconds, numeric=True),
        Column("webhook", _("Webhook"), lambda rule: rule.webhook_host),
        Column("state", _("State"), lambda rule: rule.enabled),
    ]
    rules_in_scope = services.visible_rules(cluster, rights)
    table = Table(query, columns, "name", id="rules")
    table.show(
        rules_in_scope, lambda rule: f"{rule.name} {rule.group_pattern} {rule.topic_pattern}"
    )
    return {
        "tabs": alert_tabs(cluster, "alert-rules", {"alert-rules": len(rules_in_scope)}),
        "table": table,
        "lines": [
            {
                "rule": rule,
                "matches": services.matching_group_count(rule, snapshot),
                "firing_count": firing_rule_ids.count(rule.pk),
            }
            for rule in table.rows
        ],
        "may_edit": rights.may("alert.edit"),
    }


def deliveries(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """The messages to the webhooks of all rules, with the state of each."""
    visible = [rule.pk for rule in services.visible_rules(cluster, rights)]
    columns = [
        Column("state", _("State"), "state"),
        Column("event", _("Message"), "event"),
        Column("rule", _("Rule"), "rule__name"),
        Column("attempts", _("Attempts"), "attempts", numeric=True),
        Column("answer", _("Last response"), "status_code"),
        Column("created", _("Created"), "created_at", numeric=True),
    ]
    table = QuerySetTable(query, columns, "-created", id="deliveries")
    table.show(
        AlertDelivery.objects.filter(deliveries_in_scope(rights), rule__in=visible)
        .select_related("rule", "alert"),
        ("rule__name", "event", "state", "error"),
    )  # fmt: skip
    now = timezone.now()
    return {
        "tabs": alert_tabs(cluster, "alert-deliveries", counts={}),
        "table": table,
        "lines": [
            {
                "delivery": delivery,
                "error": translated(reason := loads(delivery.error)),
                "allow_query": query_to_allow(reason) if rights.may("egress.edit") else "",
                "created_at_ms": int(delivery.created_at.timestamp() * 1000),
                "next_at_ms": int(delivery.next_attempt_at.timestamp() * 1000),
                "waits_for": _waits_for(delivery, now),
            }
            for delivery in table.rows
        ],
    }


def _waits_for(delivery: AlertDelivery, now: datetime) -> str:
    """What an attempted delivery waits for: the "answer" of the webhook, the "time" of the next
    attempt, or a free "worker" after that; "" = nothing.
    """
    if delivery.state != AlertDelivery.State.WAITING or not delivery.attempts:
        return ""
    if delivery.next_attempt_at <= now:
        return "worker"
    # A running attempt is marked by the worker that claimed it (monitoring/alerts/tasks.py).
    is_running = delivery.queued_at is not None and delivery.queued_at == delivery.attempted_at
    return "answer" if is_running else "time"
