"""The data of a removed cluster is deleted."""

import pytest

from monitoring import redis_client, redis_keys
from monitoring.alerts import stored_pending_subjects
from monitoring.alerts.lag_condition import Subject
from monitoring.alerts.state_machine import Phase, SubjectState
from monitoring.delete_cluster_data import delete_cluster_data
from monitoring.history import flush_state, root_folder
from monitoring.models import Cluster
from monitoring.reports import result_files
from monitoring.reports.models import Report
from monitoring.request_metrics import stored_readings
from monitoring.ticks import tick_stream
from monitoring.ticks.tick_stream import put_tick, record_skip_reason
from tests.monitoring.tick_factory import make_tick


def sample(slug):
    put_tick(make_tick(1, cluster=slug))
    record_skip_reason(slug, 2, "it was late")
    stored_readings.save(slug, 1, [])
    flush_state.note_begun(slug, 1)
    stored_pending_subjects.save(slug, {1: {Subject("g"): SubjectState(Phase.PENDING, 1, 1)}})


def kept_in_redis():
    with redis_client.guarded() as client:
        return {key.decode() for key in client.keys("aerie:*")}


@pytest.mark.django_db
def test_only_the_data_of_the_removed_cluster_is_deleted(redis_server, settings, tmp_path):
    settings.AERIE_DATA = tmp_path
    settings.HISTORY_URL = str(tmp_path / "history")
    clusters = [
        Cluster.objects.create(slug=slug, name=slug, bootstrap_servers="a:1")
        for slug in ("gone", "kept")
    ]
    for cluster in clusters:
        sample(cluster.slug)
        root_folder.current().write(
            b"x", root_folder.cluster_folder(cluster.slug), "hour=2026010101", "file"
        )
        report = Report.objects.create(kind="x", cluster=cluster)
        result_files.write(report.id, {}, {}, {})
    clusters[0].delete()
    delete_cluster_data("gone")
    assert root_folder.current().entries(root_folder.cluster_folder("gone")) == []
    assert root_folder.current().entries(root_folder.cluster_folder("kept"))
    assert kept_in_redis() == set(redis_keys.all_but_lock("kept"))
    assert result_files.stored_ids() == [Report.objects.get().id]
    assert tick_stream.last_ok_tick("gone") is None


@pytest.mark.django_db
def test_a_cluster_can_be_removed_while_redis_is_down(redis_server):
    redis_server.kill()
    delete_cluster_data("gone")
