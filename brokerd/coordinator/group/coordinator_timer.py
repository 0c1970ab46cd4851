"""Deadlines by key, in one heap with usually one entry per key (Kafka's CoordinatorTimer).
Heartbeats move the deadlines of sessions later again and again, which costs one write to a
dictionary: an entry is compared with the current deadline only when its time has come.
"""

import heapq
from enum import Enum, auto
from typing import NamedTuple


class Timer(Enum):
    JOIN = auto()
    SYNC = auto()
    SESSION = auto()
    PENDING_MEMBER = auto()
    OFFSETS_SWEEP = auto()


class Deadline(NamedTuple):
    """The key of one deadline; member id '' = the group's own, group id '' = the partition's."""

    timer: Timer
    group_id: str = ""
    member_id: str = ""


class CoordinatorTimer:
    """All times are passed, in milliseconds."""

    def __init__(self) -> None:
        self._at_ms: dict[Deadline, int] = {}
        self._queued: dict[Deadline, int] = {}
        self._heap: list[tuple[int, int, Deadline]] = []
        self._serial = 0

    def set(self, key: Deadline, at_ms: int) -> None:
        self._at_ms[key] = at_ms
        queued_ms = self._queued.get(key)
        if queued_ms is None or at_ms < queued_ms:
            self._push(key, at_ms)

    def cancel(self, key: Deadline) -> None:
        self._at_ms.pop(key, None)

    def next_ms(self) -> int | None:
        """No deadline comes before this time. None without deadlines."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> Deadline | None:
        """Removes and returns the earliest deadline that has come; None if there is none."""
        while self._heap and self._heap[0][0] <= now_ms:
            queued_ms, _, key = heapq.heappop(self._heap)
            if self._queued.get(key) != queued_ms:
                continue  # an entry that an earlier one replaced
            del self._queued[key]
            at_ms = self._at_ms.get(key)
            if at_ms is None:
                continue
            if at_ms > now_ms:
                self._push(key, at_ms)
                continue
            del self._at_ms[key]
            return key
        return None

    def _push(self, key: Deadline, at_ms: int) -> None:
        self._serial += 1
        self._queued[key] = at_ms
        heapq.heappush(self._heap, (at_ms, self._serial, key))
