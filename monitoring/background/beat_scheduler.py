"""Celery's beat scheduler, with one log line when Redis goes down and one when it is back.

Like the workers it writes a heartbeat (stored_heartbeats.py), under the name `beat`.
"""

import logging
import time
from typing import Any

from celery.beat import ScheduleEntry, Scheduler, SchedulingError

from monitoring import redis_client
from monitoring.background import stored_heartbeats

NAME = "beat"

log = logging.getLogger(__name__)


class BeatScheduler(Scheduler):
    """A scheduler that skips messages it cannot send: the next one of the same task is due soon."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._is_redis_down = False
        self._last_heartbeat_s = -stored_heartbeats.INTERVAL_S
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Celery calls this to send the tasks that are due; the seconds until the next call."""
        if time.monotonic() - self._last_heartbeat_s >= stored_heartbeats.INTERVAL_S:
            self._last_heartbeat_s = time.monotonic()
            try:
                stored_heartbeats.record(NAME)
            except redis_client.RedisDown:
                pass  # apply_entry logs it
        due_in_s: float = super().tick(*args, **kwargs)
        return min(due_in_s, stored_heartbeats.INTERVAL_S)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if not self._is_redis_down:
                log.warning("no task can be sent, Redis does not answer; retrying (%s)", error)
            self._is_redis_down = True
            return
        if self._is_redis_down:
            log.info("Redis answers again, tasks are sent")
        self._is_redis_down = False
