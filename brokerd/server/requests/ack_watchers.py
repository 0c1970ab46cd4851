"""Acknowledgements that a partition owes: for records that are appended and not yet as safe as was
asked for. They are those of Produces (acks=all, or acks=1 with flush.messages) and of the records
of groups; the queues of all partitions are Kafka's DelayedOperationPurgatory.Watchers.

The callback of each is called once, in the order of offsets:
- with NONE as soon as its records are below the mark that they wait for (the high watermark, say);
- with NOT_LEADER_OR_FOLLOWER when this broker leads the partition no more;
- with REQUEST_TIMED_OUT at its deadline. If the callback returns WAITS, the acknowledgement stays
  in the queue and is answered once more: group records count however late they are safe.

A queue listens to its partition and has a timer, for as long as something waits in it. A record
that is safe at once never gets here.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable
from functools import partial
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from brokerd.errors import ErrorCode
from brokerd.replication.partition import Partition

WAITS: Final = "waits"
Callback = Callable[[ErrorCode], object]
Mark = Callable[[Partition], int]
REPLICATED: Final[Mark] = attrgetter("high_watermark")
SYNCED: Final[Mark] = attrgetter("synced_to")
"""Of acks=1 where flush.messages has records synced."""


class Ack(NamedTuple):
    """`number` orders those of the same offset or deadline: the earlier one is answered first."""

    last_offset: int
    deadline_s: float
    number: int
    callback: Callback


_BY_OFFSET = itemgetter(0, 2)
_BY_DEADLINE = itemgetter(1, 2)


class AckQueue:
    """The acknowledgements of one partition that wait for the same mark. Most come in the order of
    their offsets; those of retries, and of requests whose other partitions took longer, do not."""

    __slots__ = ("_by_deadline", "_by_offset", "_number")

    def __init__(self) -> None:
        self._by_offset: list[Ack] = []
        self._by_deadline: list[Ack] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._by_offset)

    @property
    def next_deadline_s(self) -> float | None:
        return self._by_deadline[0].deadline_s if self._by_deadline else None

    def add(self, last_offset: int, deadline_s: float, callback: Callback) -> Ack:
        """Has `callback` called when the records up to `last_offset` are safe, or will not be."""
        self._number += 1
        ack = Ack(last_offset, deadline_s, self._number, callback)
        insort(self._by_offset, ack, key=_BY_OFFSET)
        insort(self._by_deadline, ack, key=_BY_DEADLINE)
        return ack

    def remove(self, ack: Ack) -> None:
        """It is not answered; whoever waited has left."""
        _remove(self._by_offset, ack, _BY_OFFSET)
        _remove(self._by_deadline, ack, _BY_DEADLINE)

    def advance(self, mark: int) -> None:
        while self._by_offset and self._by_offset[0].last_offset < mark:
            self._answer_first(ErrorCode.NONE)

    def resign(self) -> None:
        """This broker leads no more: nobody here will know what becomes of the records."""
        while self._by_offset:
            self._answer_first(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def _answer_first(self, error: ErrorCode) -> None:
        ack = self._by_offset[0]
        self.remove(ack)
        ack.callback(error)

    def expire(self, now_s: float) -> None:
        while self._by_deadline and self._by_deadline[0].deadline_s <= now_s:
            ack = self._by_deadline.pop(0)
            if ack.callback(ErrorCode.REQUEST_TIMED_OUT) is not WAITS:
                self.remove(ack)


def _remove(acks: list[Ack], ack: Ack, key: Callable[[Ack], tuple[float, int]]) -> None:
    place = bisect_left(acks, key(ack), key=key)
    if place < len(acks) and acks[place] is ack:
        del acks[place]


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
