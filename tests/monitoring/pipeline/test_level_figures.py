from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.history.levels import DAY, HOUR, HOUR_MS, LEVELS, MINUTE, RAW
from monitoring.pipeline.level_figures import seconds_of_last_run, store
from monitoring.pipeline.models import PipelineRun, RunState

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def cluster():
    return Cluster.objects.create(slug="a", name="A", bootstrap_servers="127.0.0.1:1")


def run(cluster, kind, seconds, *, minutes_ago=0, state=RunState.DONE):
    PipelineRun.objects.create(
        cluster=cluster, kind=kind, start_ms=PipelineRun.objects.count() * HOUR_MS, state=state,
        started_at=NOW - timedelta(minutes=minutes_ago), seconds=seconds,
    )  # fmt: skip


def seconds(cluster):
    return {level: seconds_of_last_run(cluster, level) for level in LEVELS}


def test_a_level_that_no_job_computed_has_no_seconds(cluster):
    run(cluster, "merge_minute", 9.0)
    assert seconds(cluster) == dict.fromkeys(LEVELS)
    state = store(cluster, {}, [], None, 0)
    assert {figures["seconds"] for figures in state.levels.values()} == {None}


def test_one_job_computes_the_minutes_and_the_hour(cluster):
    run(cluster, "hour", 5.0, minutes_ago=60)
    run(cluster, "day", 2.5, minutes_ago=30)
    assert seconds(cluster) == {RAW: None, MINUTE: 5.0, HOUR: 5.0, DAY: 2.5}
    run(cluster, "minute", 4.0)
    assert seconds(cluster) == {RAW: None, MINUTE: 4.0, HOUR: 5.0, DAY: 2.5}
    run(cluster, "only_hour", 1.5)
    assert seconds(cluster) == {RAW: None, MINUTE: 4.0, HOUR: 1.5, DAY: 2.5}
    assert store(cluster, {}, [], None, 0).levels["day"]["seconds"] == 2.5


def test_the_seconds_are_those_of_the_newest_job_of_the_cluster_that_was_done(cluster):
    other = Cluster.objects.create(slug="b", name="B", bootstrap_servers="127.0.0.1:1")
    run(cluster, "day", 3.0, minutes_ago=90)
    run(cluster, "day", 2.0, minutes_ago=60)
    run(cluster, "day", 600.0, minutes_ago=30, state=RunState.FAILED)
    run(other, "day", 7.0)
    assert seconds_of_last_run(cluster, DAY) == 2.0
