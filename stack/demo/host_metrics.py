"""Samples of this machine: its processes, a few at a time, and its CPUs.

Sampling is cheap: the list of processes is read every five seconds, and one sample reads two small
files of /proc.
"""

import time
from collections import deque

import psutil

from stack.demo.records import OutgoingRecord, cpu_sample, process_sample

LIST_EVERY_S = 5.0
COMM_LENGTH = 15
"""The kernel cuts process names to this length. psutil completes a name of this length from the
command line, which a program can overwrite and which may contain its arguments."""


class Processes:
    """Samples of the processes, round-robin."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._processes: dict[int, psutil.Process] = {}
        self._previous: dict[int, tuple[float, float]] = {}  # pid → (when, CPU seconds)
        self._queue: deque[int] = deque()
        self._listed_at = float("-inf")

    def take(self, limit: int, at_ms: int) -> list[OutgoingRecord]:
        """The next `limit` samples; fewer only if no process can be read."""
        self._add_new_processes()
        samples: list[OutgoingRecord] = []
        failures_left = len(self._queue)
        while len(samples) < limit and self._queue and failures_left >= 0:
            pid = self._queue.popleft()
            sample = self._sample(pid, at_ms)
            if sample is None:
                failures_left -= 1
                self._processes.pop(pid, None)
                self._previous.pop(pid, None)
                continue
            self._queue.append(pid)
            samples.append(sample)
        return samples

    def _sample(self, pid: int, at_ms: int) -> OutgoingRecord | None:
        process = self._processes[pid]
        try:
            with process.oneshot():
                name = process.name()[:COMM_LENGTH]
                times = process.cpu_times()
                rss_bytes = process.memory_info().rss
        except (psutil.Error, OSError):
            return None
        now, used_s = time.monotonic(), times.user + times.system
        previous = self._previous.get(pid)
        self._previous[pid] = now, used_s
        percent = None
        if previous is not None and now > previous[0]:
            percent = 100 * (used_s - previous[1]) / (now - previous[0])
        return process_sample(self._topic, at_ms, name, pid, percent, rss_bytes)

    def _add_new_processes(self) -> None:
        now = time.monotonic()
        if now - self._listed_at < LIST_EVERY_S:
            return
        self._listed_at = now
        for pid in psutil.pids():
            if pid not in self._processes:
                try:
                    self._processes[pid] = psutil.Process(pid)
                except psutil.Error:
                    continue
                self._queue.append(pid)


class Cpus:
    """The user, system and idle times of each CPU since the previous sample."""

    def __init__(self, topic: str, every_s: float) -> None:
        self._topic = topic
        self._every_s = every_s
        self._sampled_at = float("-inf")
        psutil.cpu_times_percent(percpu=True)  # sets the start of the first interval

    def take(self, at_ms: int) -> list[OutgoingRecord]:
        """One sample per CPU, if the interval is over; else none."""
        now = time.monotonic()
        if now - self._sampled_at < self._every_s:
            return []
        self._sampled_at = now
        return [
            cpu_sample(
                self._topic,
                at_ms,
                f"cpu{number}",
                {"user": times.user, "system": times.system, "idle": times.idle},
            )
            for number, times in enumerate(psutil.cpu_times_percent(percpu=True))
        ]
