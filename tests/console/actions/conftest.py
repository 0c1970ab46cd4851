"""A real cluster to change: two brokerds, started once a module."""

from collections.abc import Iterator

import pytest

from monitoring.models import Cluster
from tests.support.brokerd import BrokerdCluster
from tests.support.zookeeper import ZooKeeper


@pytest.fixture(scope="module")
def brokerd(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("actions")
    chroot = zookeeper.connect("/console-actions")
    with BrokerdCluster.started(directory, chroot, brokers=2) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture
def cluster(db, redis_server, brokerd: str) -> Cluster:
    return Cluster.objects.create(slug="local", name="Local", bootstrap_servers=brokerd)
