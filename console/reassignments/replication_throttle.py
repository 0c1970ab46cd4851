"""The replication throttle of a reassignment: its settings, brokers and replicas. Pure."""

from collections import defaultdict
from collections.abc import Iterable

from console.reassignments.moves import Move

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"


def throttled_brokers(moves: Iterable[Move]) -> list[int]:
    """The brokers that send or receive replicas."""
    return sorted({b for move in moves if move.added for b in (*move.before, *move.after)})


def throttled_replicas(moves: Iterable[Move]) -> dict[str, dict[str, str]]:
    """Topic → the settings that name the replicas to throttle, as Kafka's own tool sets them."""
    leaders: dict[str, list[str]] = defaultdict(list)
    followers: dict[str, list[str]] = defaultdict(list)
    for move in moves:
        if move.added:
            leaders[move.topic] += [f"{move.partition}:{broker}" for broker in move.before]
            followers[move.topic] += [f"{move.partition}:{broker}" for broker in move.added]
    return {
        topic: {
            LEADER_REPLICAS: ",".join(leaders[topic]),
            FOLLOWER_REPLICAS: ",".join(followers[topic]),
        }
        for topic in leaders
    }
