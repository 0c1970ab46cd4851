"""What a load says of a server."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.servers import Server

MB = 1_000_000
GIB = 1 << 30
WRITTEN_MAX = 2_000_000_000
"""A measurement ends after so many bytes written, however much time is left: from there on the
kernel holds writers back to what the disk takes, and the disk would be measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate (or a time, or a size) and the server's CPU time for each unit of the load's."""

    rate: float
    cpu: float


Load = Callable[[Server, float], Measured]
"""Measures a server for about so many seconds. Raises whatever went wrong."""


class Clock:
    """From its making to `stop`, or to when it is asked: the time, and the server's CPU time."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._end: tuple[float, float] | None = None
        self._begin = self._now()

    def _now(self) -> tuple[float, float]:
        return time.perf_counter(), self._server.cpu_seconds()

    def stop(self) -> None:
        """Ends it: what is asked later is of this moment."""
        self._end = self._now()

    @property
    def seconds(self) -> float:
        """Since its making, also after `stop`."""
        return time.perf_counter() - self._begin[0]

    def _took(self) -> tuple[float, float]:
        now = self._end or self._now()
        return now[0] - self._begin[0], now[1] - self._begin[1]

    def bytes(self, size: int) -> Measured:
        """MB/s and CPU seconds per GiB."""
        seconds, cpu_s = self._took()
        return Measured(size / seconds / MB, cpu_s / (size / GIB))

    def requests(self, count: int) -> Measured:
        """Requests a second and CPU microseconds per request."""
        seconds, cpu_s = self._took()
        return Measured(count / seconds, cpu_s / count * 1e6)
