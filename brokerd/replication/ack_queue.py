"""Acknowledgements that a partition owes: for records that are appended and not yet as safe as was
asked for (acks=all, group records, flush.messages).

The callback of each is called once, in the order of offsets:
- with NONE as soon as its records are below the mark that they wait for (the high watermark, say);
- with NOT_LEADER_OR_FOLLOWER when this broker leads the partition no more;
- with REQUEST_TIMED_OUT at its deadline. If the callback returns WAITS, the acknowledgement stays
  in the queue and is answered once more: group records count however late they are safe.
"""

from bisect import bisect_left, insort
from collections.abc import Callable
from operator import itemgetter
from typing import Final, NamedTuple

from brokerd.errors import ErrorCode

WAITS: Final = "waits"
Callback = Callable[[ErrorCode], object]


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
