"""Celery's scheduler, which says in one line that Redis is away and in one that it is back.

Its loop is heard like those of the workers (heartbeats.py), under the name `beat`.
"""

import logging
import time
from typing import Any

from celery.beat import ScheduleEntry, Scheduler, SchedulingError

from monitoring import heartbeats, redis_client

NAME = "beat"

log = logging.getLogger(__name__)


class QuietScheduler(Scheduler):
    """What could not be sent is not sent later either: the next message of its kind is due soon."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._is_away = False
        self._heard_s = -heartbeats.BEAT_S
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Sends what is due; returns in how many seconds to be called again."""
        if time.monotonic() - self._heard_s >= heartbeats.BEAT_S:
            self._heard_s = time.monotonic()
            try:
                heartbeats.note(NAME)
            except redis_client.StoreDown:
                pass  # told where a task cannot be sent
        due_in_s: float = super().tick(*args, **kwargs)
        return min(due_in_s, heartbeats.BEAT_S)

    def apply_entry(self, entry: ScheduleEntry, producer: Any = None) -> None:
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if not self._is_away:
                log.warning("no task can be sent, Redis does not answer; trying on (%s)", error)
            self._is_away = True
            return
        if self._is_away:
            log.info("Redis answers again, tasks are sent")
        self._is_away = False
