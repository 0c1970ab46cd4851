"""Progress of the deletions of topics (Kafka's TopicDeletionManager). Pure.

    requested   →  announced (entry N)  →  stopped everywhere  →  completed
                   at once                 every replica's broker is live and has applied ≥ N

As in Kafka, a deletion waits for replicas whose broker is not live or that are offline: their logs
are there yet, and would be taken for those of a later topic of the same name.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from brokerd.cluster.zookeeper.zk_data import TopicNode

NOT_ANNOUNCED = -1


@dataclass(slots=True)
class Deletion:
    """A topic that is being deleted; `announced` is the number of its entry in the feed."""

    topic_id: UUID
    brokers: frozenset[int]
    announced: int = NOT_ANNOUNCED


class TopicDeletionManager:
    """Deletions that are not complete. `applied` is the last entry that each broker applied, `live`
    the brokers that are live, `offline` the topics with a replica that its live broker cannot
    serve."""

    def __init__(self) -> None:
        self._topics: dict[str, Deletion] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._topics

    def ask(self, topics: Mapping[str, TopicNode]) -> None:
        """The deletion of these topics is requested, perhaps again."""
        for name, node in topics.items():
            if name not in self._topics:
                assert node.topic_id is not None
                brokers = frozenset(b for replicas in node.replicas.values() for b in replicas)
                self._topics[name] = Deletion(node.topic_id, brokers)

    def to_announce(self) -> list[tuple[str, UUID]]:
        return [
            (name, deletion.topic_id)
            for name, deletion in self._topics.items()
            if deletion.announced == NOT_ANNOUNCED
        ]

    def announced(self, topics: Iterable[tuple[str, UUID]], number: int) -> None:
        for name, _ in topics:
            self._topics[name].announced = number

    def due(
        self, applied: Mapping[int, int], live: Collection[int], offline: Collection[str]
    ) -> list[str]:
        return [
            name
            for name, deletion in self._topics.items()
            if not _waits(name, deletion, live, offline) and _is_applied(deletion, applied, live)
        ]

    def is_held_up(
        self, name: str, applied: Mapping[int, int], live: Collection[int], offline: Collection[str]
    ) -> bool:
        """Whether the deletion waits only for what is offline."""
        deletion = self._topics[name]
        return _waits(name, deletion, live, offline) and _is_applied(deletion, applied, live)

    def completed(self, name: str) -> None:
        self._topics.pop(name)


def _waits(name: str, deletion: Deletion, live: Collection[int], offline: Collection[str]) -> bool:
    return name in offline or not deletion.brokers.issubset(live)


def _is_applied(deletion: Deletion, applied: Mapping[int, int], live: Collection[int]) -> bool:
    """Whether all its brokers that are live have applied the entry of the deletion."""
    return deletion.announced != NOT_ANNOUNCED and all(
        applied.get(broker, -1) >= deletion.announced
        for broker in deletion.brokers
        if broker in live
    )
