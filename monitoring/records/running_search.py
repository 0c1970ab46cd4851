"""Starts a search in a process of its own, and receives its events.

A search may scan in two processes while the machine has two cores for each running search
(scan_pool.py). When searches start or end, a message to each search says whether this holds. So no
search waits for another one.
"""

import contextlib
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import Self

from monitoring.gateway.errors import ClusterUnavailable, Unreadable
from monitoring.reasons import Reason
from monitoring.records.search import Event, SearchRequest

SEARCHES_MAX = 8  # of this process at the same time
_MEMORY_BYTES = 512 << 20
_MODULE = "monitoring.records.search_process"
_ROOT = Path(__file__).parents[2]
_SILENCE_S = 60.0

logger = logging.getLogger(__name__)
_slots = threading.BoundedSemaphore(SEARCHES_MAX)
_running: "set[RunningSearch]" = set()
_running_lock = threading.Lock()


class RunningSearch:
    """A search that runs until it is complete or `stop` is called; use it in a `with` statement."""

    def __init__(self, request: SearchRequest) -> None:
        """Raises ClusterUnavailable if SEARCHES_MAX searches are running."""
        if not _slots.acquire(blocking=False):
            raise ClusterUnavailable(Reason("searches_full", n=SEARCHES_MAX))
        try:
            self._connection, child_end = Pipe()
            with child_end:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", _MODULE, str(child_end.fileno()), str(_MEMORY_BYTES)],
                    cwd=_ROOT,
                    pass_fds=(child_end.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            self._connection.send(request)
        except BaseException:
            _slots.release()
            raise
        self._stop_lock = threading.Lock()
        self._is_stopped = False
        with _running_lock:
            _running.add(self)
            _announce_cores()

    def events(self) -> Iterator[Event]:
        """Matches and progress until the search ends; the last event has `SearchProgress.end`.

        Raises the search's GatewayError or FilterInvalid, or Unreadable if its process died.
        """
        while True:
            event = self._receive()
            if event is None:
                return
            if isinstance(event, Exception):
                raise event
            yield event

    def stop(self) -> None:
        """End the search; `events` raises Unreadable if it is still waiting."""
        with self._stop_lock:
            if self._is_stopped:
                return
            self._is_stopped = True
        with _running_lock:
            _running.discard(self)
            _announce_cores()
        self._process.kill()
        self._process.wait()
        self._connection.close()
        _slots.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _receive(self) -> Event | Exception | None:
        try:
            if self._connection.poll(_SILENCE_S):
                event: Event | Exception | None = self._connection.recv()
                return event
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise Unreadable(self._end_and_explain()) from error
        raise Unreadable(Reason("not_decoded_in_time", seconds=f"{_SILENCE_S:.0f}"))

    def _end_and_explain(self) -> Reason:
        self._process.kill()  # no effect if it has ended
        code = self._process.wait()
        ending = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if not self._is_stopped:
            logger.warning("a search ended its process: %s", ending)
        return Reason("decoder_died", how=ending)


def _announce_cores() -> None:
    """Tell each search whether it may use a second core."""
    may_use_two = 2 * len(_running) <= len(os.sched_getaffinity(0))
    for search in _running:
        with contextlib.suppress(OSError):  # it has ended
            search._connection.send(may_use_two)
