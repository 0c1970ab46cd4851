"""What is added to a Celery worker: the heartbeat of its main loop.

Work goes on in threads and children of the pool; only the loop that hands it out is heard here. A
pool's process that is stopped (SIGSTOP) keeps its worker silent: nothing is done there either.
"""

import logging
from typing import Any

import psutil
from celery import bootsteps

from monitoring import heartbeats, redis_client
from monitoring.sampling.free_memory import free_memory

log = logging.getLogger(__name__)


class Heartbeat(bootsteps.StartStopStep):  # type: ignore[misc]
    """Notes each queue of this worker, every few seconds."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        self._timer: Any = None
        self._is_away = False
        super().__init__(worker, **options)

    def start(self, worker: Any) -> None:
        self._timer = worker.timer.call_repeatedly(heartbeats.BEAT_S, self._beat, (worker,))

    def stop(self, worker: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _beat(self, worker: Any) -> None:
        if _is_child_stopped(worker.pool):
            return
        queues = list(worker.app.amqp.queues.consume_from)
        try:
            for queue in queues:
                heartbeats.note(queue)
        except redis_client.StoreFull:
            if "sampling" in queues:
                free_memory()
        except redis_client.StoreDown as error:
            if not self._is_away:
                log.warning("no heartbeat: %s", error)
            self._is_away = True
            return
        self._is_away = False


def _is_child_stopped(pool: Any) -> bool:
    for pid in pool.info.get("processes", ()) if pool is not None else ():
        try:
            if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
                return True
        except psutil.Error:
            pass  # it has ended; the pool makes another
    return False
