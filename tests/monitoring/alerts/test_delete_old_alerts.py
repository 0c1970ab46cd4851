from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.alerts import tasks
from monitoring.models import Alert, AlertDelivery

pytestmark = pytest.mark.django_db


def days_ago(days):
    return timezone.now() - timedelta(days=days)


def an_alert(rule, resolved_days_ago=None):
    fields = {"since_ms": 1, "fired_at_ms": 1, "fired_tick": 1, "lag": 1, "threshold": 0}
    if resolved_days_ago is not None:
        resolved_ms = int(days_ago(resolved_days_ago).timestamp() * 1000)
        fields |= {"state": Alert.State.RESOLVED, "resolved_at_ms": resolved_ms}
    return Alert.objects.create(cluster=rule.cluster, rule=rule, group="g", **fields)


def a_delivery(rule, finished_days_ago=None, alert=None):
    finished = None if finished_days_ago is None else days_ago(finished_days_ago)
    return AlertDelivery.objects.create(
        rule=rule, alert=alert, event="fired", payload={}, finished_at=finished
    )


def test_only_old_alerts_and_deliveries_are_deleted(make_rule):
    rule = make_rule()
    kept = [an_alert(rule), an_alert(rule, resolved_days_ago=89)]
    gone = an_alert(rule, resolved_days_ago=91)
    told = [a_delivery(rule), a_delivery(rule, finished_days_ago=29)]
    a_delivery(rule, finished_days_ago=31)
    a_delivery(rule, alert=gone)
    tasks.delete_old_alerts()
    assert set(Alert.objects.all()) == set(kept)
    assert set(AlertDelivery.objects.all()) == set(told)
