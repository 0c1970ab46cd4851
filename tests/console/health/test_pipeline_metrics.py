import pytest
from django.utils import timezone

from monitoring.models import Cluster, PipelineRun, PipelineState

pytestmark = pytest.mark.django_db


def test_metrics_have_the_levels_and_the_backlog_of_each_cluster(client, redis_server):
    cluster = Cluster.objects.create(slug="a", name="A", bootstrap_servers="127.0.0.1:1")
    figures = {"last_ms": 7_200_000, "rows": 5, "files": 8, "bytes": 4096, "bytes_a_day": None}
    levels = {"hour": figures, "day": figures | {"last_ms": None}}
    PipelineState.objects.create(cluster=cluster, levels=levels, waiting_hours=2)
    PipelineRun.objects.create(
        cluster=cluster, kind="hour", start_ms=0, state="failed", started_at=timezone.now()
    )
    lines = client.get("/metrics").content.decode().splitlines()
    assert 'aerie_pipeline_waiting_hours{cluster="a"} 2' in lines
    assert 'aerie_pipeline_failed_jobs{cluster="a"} 1' in lines
    assert 'aerie_history_last_timestamp_seconds{cluster="a",level="hour"} 7200.0' in lines
    assert 'aerie_history_bytes{cluster="a",level="hour"} 4096' in lines
    assert not any(line.startswith("aerie_history_last") and "day" in line for line in lines)
