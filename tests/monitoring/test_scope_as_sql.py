"""A scope's database filter selects the rows that the scope shows in Python."""

import pytest

from monitoring.clusters.models import Cluster
from monitoring.models import Alert, AlertRule
from monitoring.scope import EVERYTHING, NOTHING, Scope
from monitoring.scope_as_sql import shows_group, shows_topic

NAMES = ["orders", "orders-eu", "Orders-eu", "order", "o%", "o_ders", "payments", "console.audit"]


@pytest.fixture
def alerts(db):
    cluster = Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    rule = AlertRule.objects.create(cluster=cluster, name="late", group_pattern="*", threshold=1)
    told = {"since_ms": 1, "fired_at_ms": 1, "fired_tick": 1, "lag": 1, "threshold": 1}
    Alert.objects.bulk_create(
        Alert(cluster=cluster, rule=rule, group=name, topic=name, **told) for name in NAMES
    )
    return Alert.objects


@pytest.mark.parametrize(
    "scope",
    [
        EVERYTHING,
        NOTHING,
        Scope(topics=("orders*",), groups=("orders", "pay*")),
        Scope(topics=("o%*", "o_*"), groups=("O*",)),
        Scope(hidden_topics=frozenset({"console.audit", "nowhere"})),
    ],
)
def test_the_filter_selects_the_rows_that_the_scope_shows(alerts, scope):
    found = alerts.filter(shows_topic(scope, "topic")).values_list("topic", flat=True)
    assert sorted(found) == sorted(filter(scope.shows_topic, NAMES))
    found = alerts.filter(shows_group(scope, "group")).values_list("group", flat=True)
    assert sorted(found) == sorted(filter(scope.shows_group, NAMES))
