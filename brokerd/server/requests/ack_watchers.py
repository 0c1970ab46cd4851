"""The acknowledgements that wait, by partition: of Produces (acks=all, or acks=1 with
flush.messages) and of the records of groups (Kafka's DelayedOperationPurgatory.Watchers).

Each queue (`replication/ack_queue`) listens to its partition and has a timer, for as long as
something waits in it. A record that is safe at once never gets here.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Final

from brokerd.replication.ack_queue import Ack, AckQueue, Callback
from brokerd.replication.partition import Partition

Mark = Callable[[Partition], int]
REPLICATED: Final[Mark] = attrgetter("high_watermark")
SYNCED: Final[Mark] = attrgetter("synced_to")
"""Of acks=1 where flush.messages has records synced."""


class AckWatchers:
    """The queues of all partitions for which something waits, by what it waits for."""

    def __init__(self) -> None:
        self._queues: dict[tuple[Partition, Mark], _ListeningQueue] = {}

    def add(
        self,
        partition: Partition,
        mark: Mark,
        last_offset: int,
        timeout_s: float,
        callback: Callback,
    ) -> Callable[[], None]:
        """See `AckQueue.add`. Returns what takes it out of the queue again."""
        key = partition, mark
        queue = self._queues.get(key)
        if queue is None:
            queue = _ListeningQueue(partition, mark, partial(self._queues.pop, key))
            self._queues[key] = queue
        return queue.enter(last_offset, timeout_s, callback)


class _ListeningQueue(AckQueue):
    __slots__ = ("_loop", "_mark", "_on_empty", "_partition", "_timer")

    def __init__(self, partition: Partition, mark: Mark, on_empty: Callable[[], object]) -> None:
        super().__init__()
        self._partition = partition
        self._mark = mark
        self._on_empty = on_empty
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        partition.listeners[self] = None

    def __call__(self, partition: Partition) -> None:
        if not self:  # it has ended since the partition began to call its listeners
            return
        if partition.is_leader:
            self.advance(self._mark(partition))
        else:
            self.resign()
        self._settle()

    def enter(self, last_offset: int, timeout_s: float, callback: Callback) -> Callable[[], None]:
        ack = self.add(last_offset, self._loop.time() + timeout_s, callback)
        self(self._partition)  # it may have moved since the records were appended
        return partial(self._leave, ack)

    def _leave(self, ack: Ack) -> None:
        if self:
            self.remove(ack)
            self._settle()

    def _time_out(self) -> None:
        self._timer = None
        self.expire(self._loop.time())
        self._settle()

    def _settle(self) -> None:
        """Sets the timer for the next deadline; an empty queue stops listening."""
        due_s = self.next_deadline_s
        timer = self._timer
        if timer is not None and (due_s is None or due_s < timer.when()):
            timer.cancel()
            self._timer = timer = None
        if not self:
            if self in self._partition.listeners:  # an answer may have added one that ended at once
                del self._partition.listeners[self]
                self._on_empty()
        elif timer is None and due_s is not None:
            self._timer = self._loop.call_at(due_s, self._time_out)
