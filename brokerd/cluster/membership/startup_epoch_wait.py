"""A broker that starts waits until the controller has raised the leader epochs of its partitions.

The controller gives each partition that this broker led, or that has no leader since it stopped, a
new leader epoch. A client that got the old epoch would be fenced a moment later
(FENCED_LEADER_EPOCH). So a broker accepts connections only after the controller has written these
states, or TIMEOUT_S after the last one: a controller may be dead while its session has not ended.

A broker that was stopped cleanly does not wait for partitions that it still leads: no controller
has seen that it was away. Most likely it is the controller itself now, and keeps their epochs.
"""

import asyncio
from collections.abc import Iterable

from brokerd.cluster.zookeeper.zk_data import LoadedState
from brokerd.replication.partition_state import NO_LEADER, PartitionState
from brokerd.topic_partition import TopicPartition

TIMEOUT_S = 5.0
OWN_TIMEOUT_S = 30.0
"""If this broker is the controller: it is alive, and may have much to load."""


def awaits_election(state: PartitionState, broker_id: int) -> bool:
    """Whether the partition has no leader, and the controller may elect this broker."""
    return state.leader == NO_LEADER and broker_id in state.isr


def awaits_new_epoch(
    loaded: LoadedState, broker_id: int, broker_epoch: int, *, was_cleanly_stopped: bool = False
) -> bool:
    """Whether the controller will write this state because of a registration with that epoch (the
    zxid of its creation): the broker may be elected, or it led the partition before it registered
    (and was not stopped cleanly)."""
    is_older = loaded.modified_zxid <= broker_epoch
    led = loaded.state.leader == broker_id and is_older and not was_cleanly_stopped
    return led or awaits_election(loaded.state, broker_id)


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

    def states_written(self, states: Iterable[PartitionState], broker_id: int) -> None:
        """The controller wrote these states. It may see the end of a broker's last session only
        after the broker is back: then it first writes that there is no leader, and elects next."""
        self.no_longer_awaited(
            (s.topic, s.partition) for s in states if not awaits_election(s, broker_id)
        )

    def no_longer_awaited(self, partitions: Iterable[TopicPartition]) -> None:
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
