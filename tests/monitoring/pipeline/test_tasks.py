"""The data pipeline through a real Celery worker."""

import time

import pytest

from monitoring.clock import now_ms
from monitoring.clusters.models import Cluster
from monitoring.history.levels import HOUR_MS
from monitoring.pipeline import tasks
from monitoring.pipeline.models import PipelineRun, RunState
from tests.monitoring.pipeline.made_history import rows_of_levels, ticks, write
from tests.support.worker import worker

pytestmark = [pytest.mark.spark, pytest.mark.django_db(transaction=True)]
_DEADLINE_S = 600


def test_a_round_of_beat_does_all_hours_one_message_each(
    root, redis_server, spark_server, settings
):
    Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    start_ms = now_ms() // HOUR_MS * HOUR_MS - 2 * HOUR_MS
    write(root, ticks(3, 2, start_ms - HOUR_MS, has_topics=False))
    port = str(spark_server.port)
    with worker("spark", SPARK_CONNECT_PORT=port, HISTORY_URL=settings.HISTORY_URL) as running:
        tasks.send_roll_ups()
        deadline = time.monotonic() + _DEADLINE_S
        done = PipelineRun.objects.filter(kind="hour", state=RunState.DONE)
        while done.count() < 2:
            assert time.monotonic() < deadline, running.log.read_text()
            time.sleep(0.2)
    assert len(rows_of_levels(root)["hour ticks"]) == 2
