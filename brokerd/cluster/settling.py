"""Whether the controller has dealt with a broker's start.

A broker that registers reads the states its partitions had before. The controller then sees the
registration and gives each partition that this broker led, or that lost its leader with it, a new
leader epoch. Whoever is told the old one in between is fenced a moment later (Kafka:
FENCED_LEADER_EPOCH). So a broker that starts takes no clients before all those states were written
anew. A controller that does nothing, because it is gone and its session has not ended yet, is
waited for no longer than PATIENCE_S since it last wrote one: clients are better served with old
epochs than not at all.

A broker that was stopped cleanly does not wait for partitions that it still leads: no controller
has seen it go, so that it most likely is the controller now, and keeps their epochs.
"""

import asyncio
from collections.abc import Iterable

from brokerd.cluster.controller import LoadedState, Partition
from brokerd.replication.state import NO_LEADER

PATIENCE_S = 5.0
OWN_PATIENCE_S = 30.0
"""Where this broker is the controller itself: it certainly lives, and may have much to load."""


def is_unsettled(
    loaded: LoadedState, broker_id: int, broker_epoch: int, *, is_unharmed: bool = False
) -> bool:
    """Whether the controller will write this state for the sake of a registration with that epoch
    (the zxid of its making): it is older, and the broker led the partition (and was not stopped
    cleanly, `is_unharmed`) or may lead it now."""
    if loaded.modified_zxid > broker_epoch:
        return False
    state = loaded.state
    if state.leader == broker_id:
        return not is_unharmed
    return state.leader == NO_LEADER and broker_id in state.isr


class Settling:
    """The partitions of this broker whose states were read and are not written anew yet."""

    def __init__(self) -> None:
        self._waiting: set[Partition] = set()
        self._read: set[Partition] = set()
        self._moved = asyncio.Event()

    def begin(self) -> None:
        """Everything is read anew; what was waited for before is so until `all_read`."""
        self._read = set()

    def await_state(self, partition: Partition) -> None:
        """A state was read that will be written anew."""
        self._read.add(partition)

    def all_read(self) -> None:
        """There are no more states than those read since `begin`."""
        if self._read != self._waiting:
            self._waiting = self._read
            self._moved.set()

    def settle(self, partitions: Iterable[Partition]) -> None:
        """These were written anew, or are deleted."""
        waited_for = len(self._waiting)
        if waited_for:
            self._waiting.difference_update(partitions)
            if len(self._waiting) < waited_for:
                self._moved.set()

    async def wait(self, patience_s: float) -> int:
        """Until nothing is waited for; how many partitions were given up."""
        while self._waiting:
            self._moved.clear()
            try:
                async with asyncio.timeout(patience_s):
                    await self._moved.wait()
            except TimeoutError:
                break
        return len(self._waiting)
