"""Runs calls of librdkafka in worker processes.

librdkafka trusts brokers: some responses that violate the protocol abort its process by an
assertion, without an exception. So it is never loaded into web processes, but into workers
(worker_process.py). A worker runs one call at a time. If it dies or exceeds the call's time limit,
only that call fails. Workers start on demand, and a few stay for later calls. They end when this
process ends, since their socket closes.
"""

import atexit
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from monitoring.gateway.errors import ClusterUnavailable, GatewayError, Unreadable
from monitoring.reasons import Reason

_MODULE = "monitoring.gateway.librdkafka.worker_process"
_ROOT = Path(__file__).parents[3]
_WORKERS_MAX = 8  # concurrent calls
_IDLE_MAX = 2  # workers without a call that stay for later ones
_MEMORY_BYTES = 512 << 20  # of one worker; a batch that unpacks to more ends it
_START_LIMIT_S = 60.0  # for the imports
_GRACE_S = 2.0  # added to the worker's own alarm, so that this process ends the worker first

logger = logging.getLogger(__name__)


def call(function: str, *arguments: Any, limit_s: float) -> Any:
    """Call `function` (of FUNCTIONS in worker_process.py) in a worker. Arguments and result are
    pickled.

    Raises the function's GatewayError, or Unreadable if the worker died or exceeded the limit.
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
            worker.end()

    def process_ids(self) -> list[int]:
        with self._lock:
            return [worker.process_id for worker in (*self._idle, *self._busy)]

    def _take(self) -> "_Worker":
        with self._lock:
            if self._idle:
                worker = self._idle.pop()
                self._busy.add(worker)
                if worker.is_alive():
                    return worker
                self._busy.discard(worker)
                worker.end()
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
            worker.end()

    def _drop(self, worker: "_Worker") -> None:
        with self._lock:
            self._busy.discard(worker)
        worker.end()


class _Worker:
    """One process and the socket to it."""

    def __init__(self) -> None:
        self._connection, child_end = Pipe()
        with child_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", _MODULE, str(child_end.fileno()), str(_MEMORY_BYTES)],
                cwd=_ROOT,
                pass_fds=(child_end.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        self._is_ready = False

    @property
    def process_id(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def call(self, function: str, arguments: tuple[Any, ...], limit_s: float) -> tuple[bool, Any]:
        """(True, result), (False, GatewayError) or (False, text of another exception)."""
        if not self._is_ready:
            self._receive(_START_LIMIT_S)
            self._is_ready = True
        try:
            self._connection.send((function, arguments, limit_s + _GRACE_S))
        except OSError as error:
            raise self._unreadable() from error
        result: tuple[bool, Any] = self._receive(limit_s)
        return result

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _receive(self, limit_s: float) -> Any:
        try:
            if self._connection.poll(limit_s):
                return self._connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise self._unreadable() from error
        logger.warning("a call of librdkafka took more than %.0f s; ending its process", limit_s)
        raise Unreadable(Reason("not_decoded_in_time", seconds=f"{limit_s:.0f}"))

    def _unreadable(self) -> Unreadable:
        self._process.kill()  # no effect if it has ended
        code = self._process.wait()
        ending = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        logger.warning("a call of librdkafka ended its process: %s", ending)
        return Unreadable(Reason("decoder_died", how=ending))
