"""A real cluster to change."""

import pytest

from monitoring.models import Cluster
from tests.support.live_cluster import LiveCluster


@pytest.fixture
def cluster(db, redis_server, live_cluster: LiveCluster) -> Cluster:
    row = live_cluster.row("local")
    row.save()
    return row
