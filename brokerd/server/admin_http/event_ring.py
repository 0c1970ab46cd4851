"""The last events of a broker, for the admin port: rolls, retention, leaders, recovery.

A ring: when it is full the oldest event goes, of which a reader learns by the gap in the ids.
"""

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

KEPT = 1000


class Event(NamedTuple):
    """One event; topic None and partition -1 if it is not about a partition."""

    id: int
    at_ms: int
    type: str
    topic: str | None
    partition: int
    detail: dict[str, Any]


class EventRing:
    __slots__ = ("_events", "_next_id", "_now_ms")

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._next_id = 1

    def add(self, kind: str, detail: dict[str, Any]) -> None:
        """Adds an event; `topic` and `partition` in the detail become fields of their own."""
        rest = dict(detail)
        topic = rest.pop("topic", None)
        partition = rest.pop("partition", -1)
        self._events.append(Event(self._next_id, self._now_ms(), kind, topic, partition, rest))
        self._next_id += 1

    def after(self, event_id: int, limit: int) -> list[Event]:
        """Up to `limit` events with a higher id, oldest first."""
        return list(islice((each for each in self._events if each.id > event_id), max(limit, 0)))
