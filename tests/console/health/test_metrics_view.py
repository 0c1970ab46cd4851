import pytest
from django.utils import timezone

from monitoring.models import Cluster, PipelineRun, PipelineState
from tests.console.conftest import sample


def test_metrics_contain_the_age_of_each_clusters_sample_and_no_other_names(client, sampled):
    number = sample("local")
    text = client.get("/metrics").content.decode()
    assert 'aerie_sample_up{cluster="local"} 1' in text
    assert f'aerie_sample_timestamp_seconds{{cluster="local"}} {number * 5 + 0.04}' in text
    assert "orders" not in text
    assert "billing" not in text


def test_metrics_answer_while_redis_is_down(client, clusters, redis_server):
    redis_server.kill()
    assert 'aerie_sample_up{cluster="local"} 0' in client.get("/metrics").content.decode()


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_metrics_have_the_free_space_on_the_disk_of_the_history(client, redis_server):
    text = client.get("/metrics").content.decode()
    assert "aerie_history_disk_size_bytes " in text
    assert "aerie_history_disk_free_bytes " in text
