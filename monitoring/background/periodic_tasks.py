"""The periodic tasks: Celery beat's schedule. Each message expires, so that they do not pile up
without a worker.

How often clusters are sampled is the setting AERIE_TICK_SECONDS (console/settings.py).
"""

import time
from datetime import datetime
from typing import Any

from celery.beat import BeatLazyFunc
from celery.schedules import BaseSchedule, schedstate
from django.conf import settings


class EveryTick(BaseSchedule):
    """Due at the start of each interval of wall-clock time, so that ticks do not drift."""

    def __init__(self, interval_s: int) -> None:
        super().__init__()
        self.interval_s = interval_s

    def remaining_estimate(self, last_run_at: datetime) -> float:
        return self.interval_s - time.time() % self.interval_s

    def is_due(self, last_run_at: datetime) -> schedstate:
        now_s = time.time()
        due = now_s // self.interval_s > last_run_at.timestamp() // self.interval_s
        return schedstate(is_due=due, next=self.interval_s - now_s % self.interval_s)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EveryTick) and other.interval_s == self.interval_s

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return type(self), (self.interval_s,)


def current_tick(interval_s: int) -> int:
    """The number of the current tick."""
    return int(time.time()) // interval_s


def beat_schedule() -> dict[str, dict[str, Any]]:
    """The entries, by name."""
    tick_s = settings.AERIE_TICK_SECONDS
    return {
        "sample": {
            "task": "monitoring.sampling.tasks.sample",
            "schedule": EveryTick(tick_s),
            "args": (BeatLazyFunc(current_tick, tick_s),),
            "options": {"expires": tick_s},
        },
        "flush-history": {
            "task": "monitoring.history.tasks.flush",
            "schedule": 60.0,
            "options": {"expires": 55},
        },
        "delete-unlisted-history": {
            "task": "monitoring.history.tasks.delete_unlisted",
            "schedule": 600.0,
            "options": {"expires": 590},
        },
        "look-for-roll-ups": {
            "task": "monitoring.pipeline.tasks.send_roll_ups",
            "schedule": 300.0,
            "options": {"expires": 290},
        },
        "refresh-pipeline": {
            "task": "monitoring.pipeline.tasks.refresh",
            "schedule": 300.0,
            "options": {"expires": 290},
        },
        "end-lost-pipeline-runs": {
            "task": "monitoring.pipeline.tasks.end_lost_runs",
            "schedule": 10.0,
            "options": {"expires": 9},
        },
        "send-due-deliveries": {
            "task": "monitoring.alerts.tasks.enqueue_due_deliveries",
            "schedule": 10.0,
            "options": {"expires": 60},  # all threads may be busy with webhooks
        },
        "delete-old-alerts": {
            "task": "monitoring.alerts.tasks.delete_old_alerts",
            "schedule": 3600.0,
            "options": {"expires": 3500},
        },
        "delete-old-events": {
            "task": "monitoring.cluster_events.tasks.delete_old_events",
            "schedule": 3600.0,
            "options": {"expires": 3500},
        },
        # Tasks of the console; monitoring does not import it, so they are named.
        "drop-refused-sign-ins": {
            "task": "console.audit.tasks.drop_refused_sign_ins",
            "schedule": 3600.0,
            "options": {"expires": 3500},
        },
        "end-lost-plans": {
            "task": "console.actions.tasks.end_lost_plans",
            "schedule": 60.0,
            "options": {"expires": 55},
        },
        "delete-old-contents": {
            "task": "console.produce.tasks.delete_old_contents",
            "schedule": 300.0,
            "options": {"expires": 290},
        },
        "send-lost-reports-again": {
            "task": "monitoring.reports.tasks.requeue_lost_reports",
            "schedule": 15.0,
            "options": {"expires": 14},
        },
    }
