"""Flushes that nobody carried out in time: nothing of what they would have written is lost."""

import pytest

from monitoring.celery import app
from monitoring.models import Cluster
from monitoring.ticks.tick_stream import put_tick
from tests.monitoring.history.stored import stored_ticks
from tests.monitoring.tick_factory import make_tick
from tests.support.waiting import wait_until
from tests.support.worker import worker

QUEUE = "aerie:celery:history"
FLUSH = "monitoring.history.tasks.flush"


@pytest.mark.django_db(transaction=True)
def test_a_flush_after_missed_ones_writes_all_ticks(root, settings, redis_server):
    Cluster.objects.create(slug="local", name="Local", bootstrap_servers="127.0.0.1:1")
    for number in range(10, 40):
        put_tick(make_tick(number, partitions=[{"topic": "a", "partition": 0}]))
        if number % 10 == 0:
            app.send_task(FLUSH, expires=-1)
    with worker("history", HISTORY_URL=settings.HISTORY_URL):
        wait_until(lambda: not redis_server.client().llen(QUEUE), "all were discarded", 120)
        assert stored_ticks() == []
        app.send_task(FLUSH)
        wait_until(lambda: len(stored_ticks()) == 30, "all is stored", 120)
    assert stored_ticks() == list(range(10, 40))
