"""What fires, what fired, and which messages went out about it."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.alerts import services
from console.alerts.tabs import alert_tabs
from console.live import snapshot_cache
from console.ui.table import Column, Table
from monitoring.models import Alert, AlertDelivery

PAST_MAX = 1000  # what the page searches through, newest first
DELIVERIES_MAX = 1000


@require_safe
@requires("alert.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    rights, shown = request.rights, snapshot_cache.snapshot(cluster, request.rights)
    fires = services.open_alerts(request.cluster, rights, shown)
    past = Alert.objects.filter(cluster=request.cluster, state=Alert.State.RESOLVED)
    columns = [
        Column("rule", _("Rule"), lambda alert: alert.rule.name),
        Column("group", _("Group"), lambda alert: (alert.group, alert.topic)),
        Column("lag", _("Lag when it fired"), lambda alert: alert.lag, numeric=True),
        Column("peak", _("Peak"), lambda alert: alert.lag_peak, numeric=True),
        Column("fired", _("Fired"), lambda alert: alert.fired_at_ms, numeric=True),
        Column("lasted", _("Lasted"), _lasted_ms, numeric=True),
        Column("why", _("Resolved because")),
    ]
    table = Table.of(request.GET, columns, "-fired", id="past")
    rows = [
        alert
        for alert in past.select_related("rule")[:PAST_MAX]
        if services.is_visible(alert, rights)
    ]
    table.show(rows, lambda alert: f"{alert.rule.name} {alert.subject}")
    context = {
        "tabs": alert_tabs(request, "alerts", alerts=len(fires)),
        "fires": fires,
        "table": table,
        "lines": [(alert, _lasted_ms(alert) / 1000) for alert in table.rows],
        "has_rules": request.cluster.alert_rules.exists(),
        "may_edit": rights.may("alert.edit"),
    }
    return render(request, "alerts/index.html", context)


def _lasted_ms(alert: Alert) -> int:
    return (alert.resolved_at_ms or alert.fired_at_ms) - alert.fired_at_ms


@require_safe
@requires("alert.view")
def deliveries(request: ClusterRequest, cluster: str) -> HttpResponse:
    visible = {rule.pk for rule in services.visible_rules(request.cluster, request.rights)}
    found = AlertDelivery.objects.filter(rule__in=visible).select_related("rule", "alert")
    columns = [
        Column("state", _("State"), lambda sent: sent.state),
        Column("event", _("Message"), lambda sent: sent.event),
        Column("rule", _("Rule"), lambda sent: sent.rule.name),
        Column("attempts", _("Attempts"), lambda sent: sent.attempts, numeric=True),
        Column("answer", _("Last answer"), lambda sent: sent.status_code),
        Column("created", _("Created"), lambda sent: sent.created_at, numeric=True),
    ]
    table = Table.of(request.GET, columns, "-created", id="deliveries")
    rows = [
        sent
        for sent in found[:DELIVERIES_MAX]
        if sent.alert is None or services.is_visible(sent.alert, request.rights)
    ]
    table.show(rows, lambda sent: f"{sent.rule.name} {sent.event} {sent.state} {sent.error}")
    now = timezone.now()
    context = {
        "tabs": alert_tabs(request, "alert-deliveries"),
        "table": table,
        "lines": [
            {
                "sent": sent,
                "created_at_ms": int(sent.created_at.timestamp() * 1000),
                "next_at_ms": int(sent.next_attempt_at.timestamp() * 1000),
                "waits_for": services.waits_for(sent, now),
            }
            for sent in table.rows
        ],
    }
    return render(request, "alerts/deliveries.html", context)
