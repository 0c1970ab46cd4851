"""Runs calls of librdkafka in worker processes.

librdkafka trusts brokers: some responses that violate the protocol abort its process by an
assertion, without an exception. So it is never loaded into web processes, but into workers
(worker_process.py). A worker runs one call at a time. If it dies or exceeds the call's time limit,
only that call fails. Workers start on demand, and a few stay for later calls. They end when this
process ends, since their socket closes.
"""

import atexit
import os
import threading
from functools import lru_cache
from typing import Any

from monitoring.error_reason import Reason
from monitoring.gateway.child_process import ChildProcess
from monitoring.gateway.errors import ClusterUnavailable, GatewayError

_MODULE = "monitoring.gateway.librdkafka.worker_process"
_WORKERS_MAX = 8  # concurrent calls
_IDLE_MAX = 2  # workers without a call that stay for later ones
_MEMORY_BYTES = 512 << 20  # of one worker; a batch that unpacks to more ends it
_START_LIMIT_S = 60.0  # for the imports
# SIGALRM in worker_process.py comes so much later, so this process ends the worker first.
_GRACE_S = 2.0


def call(function: str, *arguments: Any, limit_s: float) -> Any:
    """Call `function` (of FUNCTIONS in worker_process.py) in a worker. Arguments and result are
    pickled.

    Raises the function's GatewayError, ClusterUnavailable if all workers are busy, or Unreadable if
    the worker died or exceeded the limit.
    """
    return _workers_of(os.getpid()).call(function, arguments, limit_s)


@lru_cache(maxsize=1)
def _workers_of(process_id: int) -> "Workers":
    workers = Workers(process_id)
    atexit.register(workers.end)
    return workers


class Workers:
    """The workers of one process; a forked process has its own."""

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._slots = threading.BoundedSemaphore(_WORKERS_MAX)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    def call(self, function: str, arguments: tuple[Any, ...], limit_s: float) -> Any:
        if not self._slots.acquire(timeout=limit_s):
            raise ClusterUnavailable(Reason("calls_full", n=_WORKERS_MAX))
        try:
            worker = self._take()
            try:
                succeeded, result = worker.call(function, arguments, limit_s)
            except BaseException:
                self._drop(worker)
                raise
            self._return_idle(worker)
        finally:
            self._slots.release()
        if succeeded:
            return result
        raise result if isinstance(result, GatewayError) else RuntimeError(result)

    def end(self) -> None:
        """End all workers, also busy ones."""
        if os.getpid() != self._process_id:
            return
        with self._lock:
            workers = [*self._idle, *self._busy]
            self._idle.clear()
        for worker in workers:
            worker.process.end()

    def process_ids(self) -> list[int]:
        with self._lock:
            return [worker.process.id for worker in (*self._idle, *self._busy)]

    def _take(self) -> "_Worker":
        with self._lock:
            if self._idle:
                worker = self._idle.pop()
                self._busy.add(worker)
                if worker.process.is_alive():
                    return worker
                self._busy.discard(worker)
                worker.process.end()
        worker = _Worker()
        with self._lock:
            self._busy.add(worker)
        return worker

    def _return_idle(self, worker: "_Worker") -> None:
        with self._lock:
            self._busy.discard(worker)
            is_kept = len(self._idle) < _IDLE_MAX
            if is_kept:
                self._idle.append(worker)
        if not is_kept:
            worker.process.end()

    def _drop(self, worker: "_Worker") -> None:
        with self._lock:
            self._busy.discard(worker)
        worker.process.end()


class _Worker:
    """One process that runs calls."""

    def __init__(self) -> None:
        self.process = ChildProcess(_MODULE, _MEMORY_BYTES)
        self._is_ready = False

    def call(self, function: str, arguments: tuple[Any, ...], limit_s: float) -> tuple[bool, Any]:
        """(True, result), (False, GatewayError) or (False, text of another exception)."""
        if not self._is_ready:
            self.process.receive(_START_LIMIT_S)
            self._is_ready = True
        try:
            self.process.send((function, arguments, limit_s + _GRACE_S))
        except OSError as error:
            raise self.process.died() from error
        result: tuple[bool, Any] = self.process.receive(limit_s)
        return result
