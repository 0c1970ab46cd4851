"""A Celery bootstep: the heartbeat of a worker's main loop.

Tasks run in the pool's threads or processes; the heartbeat only shows that the main loop runs. If a
process of the pool is stopped (SIGSTOP), no heartbeat is written, since no tasks run then. If Redis
is full, the worker of `sampling` deletes old samples here, since it may get no tasks.
"""

import logging
from typing import Any

import psutil
from celery import bootsteps

from monitoring import redis_client
from monitoring.background import stored_heartbeats
from monitoring.ticks.free_redis_memory import free_redis_memory

log = logging.getLogger(__name__)


class Heartbeat(bootsteps.StartStopStep):
    """Records a heartbeat for each queue of this worker, every few seconds."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        self._timer: Any = None
        self._is_redis_down = False
        super().__init__(worker, **options)

    def start(self, worker: Any) -> None:
        self._timer = worker.timer.call_repeatedly(
            stored_heartbeats.INTERVAL_S, self._beat, (worker,)
        )

    def stop(self, worker: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self, worker: Any) -> None:
        if _is_child_stopped(worker.pool):
            return
        queues = list(worker.app.amqp.queues.consume_from)
        try:
            for queue in queues:
                stored_heartbeats.record(queue)
        except redis_client.RedisFull:
            if "sampling" in queues:
                free_redis_memory()
        except redis_client.RedisDown as error:
            if not self._is_redis_down:
                log.warning("no heartbeat: %s", error)
            self._is_redis_down = True
            return
        self._is_redis_down = False


def _is_child_stopped(pool: Any) -> bool:
    for pid in pool.info.get("processes", ()) if pool is not None else ():
        try:
            if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
                return True
        except psutil.Error:
            pass  # it has ended; the pool starts another
    return False
