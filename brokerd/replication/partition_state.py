"""What the cluster has decided about one partition: a `state` znode. Its version orders the states,
not the leader epoch, which a change of the in-sync set may keep.
"""

from dataclasses import dataclass
from uuid import UUID

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Replicas in order of preference, the leader (NO_LEADER: none) and the in-sync replicas.
    `adding` and `removing` are those of a reassignment; `is_new`: no replica has held a record yet,
    so an empty log may lead."""

    topic: str
    partition: int
    topic_id: UUID
    replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    is_new: bool = False
