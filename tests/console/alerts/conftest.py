import pytest

from monitoring.models import Alert, AlertRule
from tests.support.webhook import webhook_server  # noqa: F401  (a fixture)


@pytest.fixture
def make_rule(clusters):
    def make(name="late", *, cluster=None, url="", **fields):
        fields = {"group_pattern": "bill*", "threshold": 50, "for_seconds": 10} | fields
        rule = AlertRule(cluster=cluster or clusters[0], name=name, **fields)
        rule.set_webhook(url, "s3cret" if url else "")
        rule.save()
        return rule

    return make


@pytest.fixture
def make_alert(clusters):
    def make(rule, group="billing", **fields):
        told = {
            "since_ms": 1000,
            "fired_at_ms": 11_000,
            "fired_tick": 2,
            "lag": 80,
            "threshold": 50,
        }
        return Alert.objects.create(rule=rule, cluster=rule.cluster, group=group, **(told | fields))

    return make
