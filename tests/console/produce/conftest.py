"""A topic `orders` on a cluster in memory.

It has three partitions there, which plans read; the sampled tick, which the forms read, has two.
"""

import pytest

from console.accounts.principal import Principal
from console.actions import plan_queue
from console.actions.models import Plan
from console.produce.write_plans import RecordsToWrite, propose_write
from monitoring.gateway.producing import NewRecord
from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)


@pytest.fixture
def orders(sampled, fake_cluster: FakeCluster, monkeypatch) -> FakeCluster:  # noqa: F811
    monkeypatch.setattr(plan_queue, "send", lambda plan: None)
    fake_cluster.create_topic("orders", 3)
    return fake_cluster


def local() -> Cluster:
    return Cluster.objects.get(slug="local")


def planned(user, *records: NewRecord, topic: str = "orders", **options) -> Plan:
    return propose_write(Principal(user, ""), local(), RecordsToWrite(topic, records, **options))
