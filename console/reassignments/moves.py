"""Reassignments of partitions in plans: what moves, and how many bytes. Pure.

A partition has the key "topic-partition", as in Kafka's log directories.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from monitoring.gateway.reassignment_requests import ReplicaSizes
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.gateway.wire.reassignments import Reassignment


class MoveState(Enum):
    """The state of a move in the cluster."""

    NOT_MOVING = "not moving"  # not started yet, cancelled, or replaced by another reassignment
    MOVING = "moving"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Move:
    """A partition and its replicas before and after."""

    topic: str
    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Move":
        """The inverse of `as_json`."""
        replicas = tuple(stored["before"]), tuple(stored["after"])
        return cls(stored["topic"], stored["partition"], *replicas)

    @property
    def key(self) -> str:
        return partition_key(self.topic, self.partition)

    @property
    def added(self) -> tuple[int, ...]:
        return tuple(broker for broker in self.after if broker not in self.before)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"before": list(self.before), "after": list(self.after)}

    def reversed(self) -> "Move":
        return Move(self.topic, self.partition, self.after, self.before)


def comparable_replicas(
    replicas: tuple[int, ...], running: Reassignment | None, move: Move
) -> tuple[int, ...]:
    """The replicas of a partition, as they are compared with those of the review.

    If the move is running or done, they are those before it: a resumed plan may apply it again.
    """
    if running is not None:
        target = [broker for broker in running.replicas if broker not in running.removing]
        if set(target) == set(move.after):
            return move.before
        return tuple(broker for broker in running.replicas if broker not in running.adding)
    return move.before if replicas == move.after else replicas


def state_of(move: Move, replicas: tuple[int, ...], running: Reassignment | None) -> MoveState:
    """The state of a move. `replicas`: those now; `running`: the partition's reassignment."""
    if running is not None:
        target = {broker for broker in running.replicas if broker not in running.removing}
        return MoveState.MOVING if target == set(move.after) else MoveState.NOT_MOVING
    return MoveState.DONE if replicas == move.after else MoveState.NOT_MOVING


def size_of(move: Move, sizes: Mapping[TopicPartition, Mapping[int, int]]) -> int | None:
    """The bytes of one replica: the largest one that is known; None = unknown."""
    by_broker = sizes.get((move.topic, move.partition), {})
    known = [by_broker[broker] for broker in move.before if broker in by_broker]
    return max(known) if known else None


def bytes_by_broker(moves: Iterable[Move], replica_sizes: ReplicaSizes) -> dict[int, int | None]:
    """Broker → the bytes that it gets; None = the size of a replica is unknown."""
    found: dict[int, int | None] = {}
    for move in moves:
        size = size_of(move, replica_sizes.sizes)
        for broker in move.added:
            so_far = found.get(broker, 0)
            found[broker] = None if size is None or so_far is None else so_far + size
    return dict(sorted(found.items()))
