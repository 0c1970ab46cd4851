import logging

import pytest

from monitoring.background.beat_scheduler import BeatScheduler
from monitoring.celery import app
from tests.support.redis import RedisServer


def test_an_outage_of_redis_logs_two_lines(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler = BeatScheduler(app, schedule={})
    entry = scheduler.Entry(
        name="tidy", task="console.actions.tasks.end_lost_plans", schedule=60.0, app=app
    )
    caplog.set_level(logging.INFO, "monitoring.background.beat_scheduler")
    with redis_server.hung():
        scheduler.apply_entry(entry)
        scheduler.apply_entry(entry)
    scheduler.apply_entry(entry)
    scheduler.apply_entry(entry)
    logger = "monitoring.background.beat_scheduler"
    records = [record for record in caplog.records if record.name == logger]
    away, back = records
    assert away.getMessage().startswith("no task can be sent, Redis does not answer")
    assert away.exc_info is None
    assert back.getMessage() == "Redis answers again, tasks are sent"
