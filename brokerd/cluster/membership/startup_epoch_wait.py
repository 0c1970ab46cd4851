"""A broker that starts waits until the controller has raised the leader epochs of its partitions.

A broker that registers reads the states that its partitions had before. The controller then sees
the registration and gives each partition that this broker led, or that has no leader since this
broker stopped, a new leader epoch. A client that gets the old epoch in between is fenced a moment
later (FENCED_LEADER_EPOCH). So a broker accepts connections only after the controller has written
all these states. A controller may be dead while its session has not ended yet: then the wait ends
TIMEOUT_S after the last state was written, and clients get the old epochs.

A broker that was stopped cleanly does not wait for partitions that it still leads: no controller
has seen that it was away. Most likely it is the controller itself now, and keeps their epochs.
"""

import asyncio
from collections.abc import Iterable

from brokerd.cluster.zookeeper.znode_json import LoadedState
from brokerd.replication.state import NO_LEADER
from brokerd.topic_partition import TopicPartition

TIMEOUT_S = 5.0
OWN_TIMEOUT_S = 30.0
"""If this broker is the controller: it is alive, and may have much to load."""


def awaits_new_epoch(
    loaded: LoadedState, broker_id: int, broker_epoch: int, *, was_cleanly_stopped: bool = False
) -> bool:
    """Whether the controller will write this state because of a registration with that epoch (the
    zxid of its creation): the state is older, and the broker led the partition (and was not stopped
    cleanly) or may lead it now."""
    if loaded.modified_zxid > broker_epoch:
        return False
    state = loaded.state
    if state.leader == broker_id:
        return not was_cleanly_stopped
    return state.leader == NO_LEADER and broker_id in state.isr


class StartupEpochWait:
    """The partitions of this broker whose states the controller will write."""

    def __init__(self) -> None:
        self._waiting: set[TopicPartition] = set()
        self._moved = asyncio.Event()

    def replace(self, read: set[TopicPartition]) -> None:
        """All states were read: these are awaited instead of the former ones."""
        if read != self._waiting:
            self._waiting = read
            self._moved.set()

    def no_longer_awaited(self, partitions: Iterable[TopicPartition]) -> None:
        """The states of these partitions were written, or deleted."""
        waited_for = len(self._waiting)
        if waited_for:
            self._waiting.difference_update(partitions)
            if len(self._waiting) < waited_for:
                self._moved.set()

    async def wait(self, timeout_s: float) -> int:
        """Waits until all were written; returns how many partitions were given up."""
        while self._waiting:
            self._moved.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._moved.wait()
            except TimeoutError:
                break
        return len(self._waiting)
