"""Looks at this machine: its processes in turn, and its CPUs once a second or more rarely.

Cheap on purpose: the list of processes is read again every five seconds, and each look at one reads
two small files of /proc.
"""

import time
from collections import deque

import psutil

from stack.demo.shapes import Outgoing, cpu_sample, process_sample

LIST_EVERY_S = 5.0
COMM_LENGTH = 15
"""What the kernel keeps of a process's name. psutil completes a name of that length from the
command line, where a program may have written anything, its arguments included."""


class Processes:
    """Samples of the processes, one after the other, round and round."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._known: dict[int, psutil.Process] = {}
        self._before: dict[int, tuple[float, float]] = {}  # pid → (when, CPU seconds)
        self._turn: deque[int] = deque()
        self._listed_at = float("-inf")

    def take(self, limit: int, at_ms: int) -> list[Outgoing]:
        """The next `limit` samples; fewer only where the machine has no process to look at."""
        self._list()
        samples: list[Outgoing] = []
        failures_left = len(self._turn)
        while len(samples) < limit and self._turn and failures_left >= 0:
            pid = self._turn.popleft()
            sample = self._look(pid, at_ms)
            if sample is None:
                failures_left -= 1
                self._known.pop(pid, None)
                self._before.pop(pid, None)
                continue
            self._turn.append(pid)
            samples.append(sample)
        return samples

    def _look(self, pid: int, at_ms: int) -> Outgoing | None:
        process = self._known[pid]
        try:
            with process.oneshot():
                name = process.name()[:COMM_LENGTH]
                times = process.cpu_times()
                rss_bytes = process.memory_info().rss
        except (psutil.Error, OSError):
            return None
        now, used_s = time.monotonic(), times.user + times.system
        before = self._before.get(pid)
        self._before[pid] = now, used_s
        percent = None
        if before is not None and now > before[0]:
            percent = 100 * (used_s - before[1]) / (now - before[0])
        return process_sample(self._topic, at_ms, name, pid, percent, rss_bytes)

    def _list(self) -> None:
        now = time.monotonic()
        if now - self._listed_at < LIST_EVERY_S:
            return
        self._listed_at = now
        for pid in psutil.pids():
            if pid not in self._known:
                try:
                    self._known[pid] = psutil.Process(pid)
                except psutil.Error:
                    continue
                self._turn.append(pid)


class Cpus:
    """How each CPU spent its time since the look before."""

    def __init__(self, topic: str, every_s: float) -> None:
        self._topic = topic
        self._every_s = every_s
        self._looked_at = float("-inf")
        psutil.cpu_times_percent(percpu=True)  # the first look has nothing to compare with

    def take(self, at_ms: int) -> list[Outgoing]:
        """One sample per CPU, if it is time."""
        now = time.monotonic()
        if now - self._looked_at < self._every_s:
            return []
        self._looked_at = now
        return [
            cpu_sample(
                self._topic,
                at_ms,
                f"cpu{number}",
                {"user": times.user, "system": times.system, "idle": times.idle},
            )
            for number, times in enumerate(psutil.cpu_times_percent(percpu=True))
        ]
