"""Starts a search in a process of its own (search_process.py), and receives its events.

A search may scan in two processes while the machine has two cores for each running search
(scan_pool.py). When searches start or end, a message to each search says whether this holds. So no
search waits for another one.
"""

import contextlib
import os
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from monitoring.error_reason import Reason
from monitoring.gateway.child_process import ChildProcess
from monitoring.gateway.errors import ClusterUnavailable
from monitoring.records.search_events import Event
from monitoring.records.search_limits import SEARCHES_MAX
from monitoring.records.search_request import SearchRequest

_MEMORY_BYTES = 512 << 20
_MODULE = "monitoring.records.search_process"
_SILENCE_S = 60.0

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
            self._process = ChildProcess(_MODULE, _MEMORY_BYTES)
            self._process.send(request)
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
            event: Event | Exception | None = self._process.receive(_SILENCE_S)
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
        self._process.end()
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


def _announce_cores() -> None:
    """Tell each search whether it may use a second core."""
    may_use_two = 2 * len(_running) <= len(os.sched_getaffinity(0))
    for search in _running:
        with contextlib.suppress(OSError):  # it has ended
            search._process.send(may_use_two)
