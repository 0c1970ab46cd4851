"""A cluster to change: one in memory, since what plans do needs no broker.

The changes themselves are tried on a real one in test_on_a_real_cluster.py.
"""

import pytest

from monitoring.models import Cluster
from tests.support.fake_gateway import FakeCluster, fake_cluster  # noqa: F401  (a fixture)


@pytest.fixture
def cluster(db, redis_server, fake_cluster: FakeCluster) -> Cluster:  # noqa: F811
    return Cluster.objects.create(
        slug="local", name="Local", bootstrap_servers="127.0.0.1:1", holds_own_topics=True
    )
