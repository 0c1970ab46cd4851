"""The state of one partition as the controller decided it: who leads, who follows, who is in sync.

It is what `/brokers/topics/T` (replicas) and `/brokers/topics/T/partitions/N/state` (leader, ISR) say
together. Two states of one partition are ordered by `version`, the version of the `state` znode, because
an ISR change does not raise `leader_epoch`. A state of another `topic_id` belongs to another topic of the
same name and has no order with this one.
"""

from dataclasses import dataclass
from uuid import UUID

NO_LEADER = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """One partition's replicas, leader and in-sync replicas, all by broker id."""

    topic: str
    partition: int
    topic_id: UUID
    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int
    is_new: bool = False

    @property
    def is_offline(self) -> bool:
        """Whether no live replica leads the partition."""
        return self.leader == NO_LEADER
