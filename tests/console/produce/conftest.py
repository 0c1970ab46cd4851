"""A topic `orders` with three partitions, on a cluster in memory."""

import pytest

from console.accounts.principal import Principal
from console.actions import services as actions
from console.actions.models import Plan
from console.produce.services import WriteRequest, propose_write
from monitoring.gateway.producing import NewRecord
from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)


@pytest.fixture
def orders(sampled, fake_cluster: FakeCluster, monkeypatch) -> FakeCluster:  # noqa: F811
    monkeypatch.setattr(actions, "_send_task", lambda plan: None)
    fake_cluster.create_topic("orders", 3)
    return fake_cluster


def local() -> Cluster:
    return Cluster.objects.get(slug="local")


def planned(user, *records: NewRecord, topic: str = "orders", **options) -> Plan:
    return propose_write(Principal(user, ""), local(), WriteRequest(topic, records, **options))


def run(plan: Plan, user) -> Plan:
    actions.confirm(plan, Principal(user, ""), plan.draft["typed_name"])
    actions.run(str(plan.pk))
    plan.refresh_from_db()
    return plan


def resume(plan: Plan, user) -> Plan:
    actions.resume(plan, Principal(user, ""))
    actions.run(str(plan.pk))
    plan.refresh_from_db()
    return plan
