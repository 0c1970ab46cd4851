import time
from datetime import UTC, datetime, timedelta

import pytest
from celery.beat import BeatLazyFunc

from monitoring.background import periodic_tasks as schedule
from monitoring.background.periodic_tasks import EveryTick, beat_schedule, current_tick
from monitoring.celery import app


@pytest.fixture
def clock(monkeypatch):
    def set_to(now_s):
        monkeypatch.setattr(schedule.time, "time", lambda: now_s)

    return set_to


def at(seconds):
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)


def test_a_tick_is_due_once_in_its_interval(clock):
    every = EveryTick(5)
    clock(1000.2)
    assert every.is_due(at(999.9)).is_due
    assert not every.is_due(at(1000.1)).is_due


@pytest.mark.parametrize(("now_s", "next_s"), [(1000.2, 4.8), (1004.9, 0.1), (1000.0, 5.0)])
def test_beat_wakes_at_the_beginning_of_the_next_tick(clock, now_s, next_s):
    clock(now_s)
    assert EveryTick(5).is_due(at(0)).next == pytest.approx(next_s)


def test_the_number_of_a_tick_is_the_time_divided_by_the_interval(clock):
    clock(1004.99)
    assert current_tick(5) == 200


def test_a_tick_carries_its_number_and_expires_with_it(settings):
    settings.AERIE_TICK_SECONDS = 7
    entry = beat_schedule()["sample"]
    [number] = entry["args"]
    assert isinstance(number, BeatLazyFunc)
    assert abs(number() - int(time.time()) // 7) <= 1
    assert entry["options"]["expires"] == 7


def test_every_scheduled_task_exists_and_expires():
    app.loader.import_default_modules()
    for entry in beat_schedule().values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] > 0
