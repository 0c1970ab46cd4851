import pytest

from monitoring.models import AlertRule, Cluster
from tests.support.webhook import webhook_server  # noqa: F401  (a fixture)


@pytest.fixture
def cluster(db):
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")


@pytest.fixture
def make_rule(cluster):
    def make(name="late", *, webhook="", secret="", **fields):
        fields = {"group_pattern": "g*", "threshold": 100, "for_seconds": 10} | fields
        rule = AlertRule(cluster=cluster, name=name, **fields)
        rule.set_webhook(webhook, secret)
        rule.save()
        return rule

    return make
