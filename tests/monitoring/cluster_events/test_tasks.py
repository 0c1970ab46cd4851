import pytest

from monitoring.clock import now_ms
from monitoring.cluster_events import tasks
from monitoring.models import Cluster, ClusterEvent

DAY_MS = 86_400_000


@pytest.mark.django_db
def test_only_old_events_are_deleted():
    local = Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    for days in (1, 89, 91, 200):
        ClusterEvent.objects.create(
            cluster=local, tick=days, at_ms=now_ms() - days * DAY_MS, kind="rebalance", name="g"
        )
    tasks.delete_old_events()
    assert set(ClusterEvent.objects.values_list("tick", flat=True)) == {1, 89}
