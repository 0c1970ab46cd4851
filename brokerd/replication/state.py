"""What the cluster has decided about one partition: a line of the change feed, a `state` znode.

The order of states is the version of the `state` znode, not the leader epoch: a change of the
in-sync set keeps the leader epoch and still raises the version.
"""

from dataclasses import dataclass
from uuid import UUID

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Replicas in order of preference, the leader (NO_LEADER: none) and the in-sync replicas.

    `adding` and `removing` are the replicas on their way in and out of a reassignment; `is_new`
    says that no replica has held a record yet, so an empty log may lead.
    """

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
