"""Proposes an assignment of partitions to brokers that moves little. Pure.

Replicas that may stay do stay. Then replicas move from brokers with more to brokers with fewer, as
long as that makes the counts more even and no partition lies on fewer racks. Finally the order of
the replicas changes, so that brokers have as many preferred leaders; that moves no data. Only the
given partitions are counted.
"""

from collections import Counter, deque
from collections.abc import Mapping

from monitoring.gateway.topic_partition import TopicPartition

Replicas = tuple[int, ...]
Assignment = dict[TopicPartition, Replicas]


def propose_replicas(
    current: Mapping[TopicPartition, Replicas],
    racks: Mapping[int, str | None],
    factors: Mapping[str, int] | None = None,
) -> Assignment:
    """The new replicas of each partition.

    `racks` has the brokers to use. `factors` has replication factors by topic; other topics keep
    theirs. Raises ValueError if a factor is larger than the number of brokers.
    """
    assignment = _UnfinishedAssignment(racks)
    for key, replicas in sorted(current.items()):
        factor = (factors or {}).get(key[0], len(replicas))
        if not 0 < factor <= len(racks):
            raise ValueError(f"{factor} replicas on {len(racks)} brokers")
        assignment.add(key, replicas, factor)
    assignment.fill()
    assignment.balance()
    assignment.balance_leaders()
    return {key: tuple(assignment.chosen[key]) for key in current}


class _UnfinishedAssignment:
    """The assignment while it is computed."""

    def __init__(self, racks: Mapping[int, str | None]) -> None:
        self._racks = racks
        self.chosen: dict[TopicPartition, list[int]] = {}
        self._factors: dict[TopicPartition, int] = {}
        # The number of replicas on each broker.
        self._load: Counter[int] = Counter(dict.fromkeys(racks, 0))
        self._partitions_on: dict[int, set[TopicPartition]] = {broker: set() for broker in racks}

    def add(self, key: TopicPartition, replicas: Replicas, factor: int) -> None:
        """Add a partition, with the replicas that may stay."""
        self.chosen[key] = []
        self._factors[key] = factor
        for broker in dict.fromkeys(replicas):
            if broker in self._racks:
                self._add_replica(key, broker)

    def fill(self) -> None:
        """Remove and add replicas until each partition has its factor."""
        for key, replicas in self.chosen.items():
            while len(replicas) > self._factors[key]:
                rack_counts = self._racks_of(replicas)
                # If possible one on a rack with several replicas, and not the leader; of those the
                # one on the broker with the most replicas.
                worst = max(
                    replicas,
                    key=lambda b: (
                        rack_counts[self._rack(b)] > 1,
                        b != replicas[0],
                        self._load[b],
                        b,
                    ),
                )
                self._remove_replica(key, worst)
        for key, replicas in self.chosen.items():
            while len(replicas) < self._factors[key]:
                rack_counts = self._racks_of(replicas)
                free = (broker for broker in self._racks if broker not in replicas)
                self._add_replica(
                    key, min(free, key=lambda b: (rack_counts[self._rack(b)], self._load[b], b))
                )

    def balance(self) -> None:
        """Spread partitions over racks, then move from fuller to emptier brokers."""
        for key in self.chosen:
            self._spread(key)
        while self._move_one():
            pass

    def balance_leaders(self) -> None:
        """Change the order of replicas until the numbers of preferred leaders are even."""
        partitions_led: dict[int, set[TopicPartition]] = {broker: set() for broker in self._racks}
        for key, replicas in self.chosen.items():
            partitions_led[replicas[0]].add(key)
        while path := self._leader_path(partitions_led):
            for key, broker in path:
                replicas = self.chosen[key]
                partitions_led[replicas[0]].discard(key)
                replicas.remove(broker)
                replicas.insert(0, broker)
                partitions_led[broker].add(key)

    def _spread(self, key: TopicPartition) -> None:
        """Move the partition's replicas from racks with several to racks with none."""
        while True:
            replicas = self.chosen[key]
            rack_counts = self._racks_of(replicas)
            free = [b for b in self._racks if not rack_counts[self._rack(b)]]
            sharing_a_rack = [b for b in replicas if rack_counts[self._rack(b)] > 1]
            if not free or not sharing_a_rack:
                return
            target = min(free, key=lambda b: (self._load[b], b))
            source = max(sharing_a_rack, key=lambda b: (b != replicas[0], self._load[b], b))
            self._replace(key, source, target)

    def _move_one(self) -> bool:
        """Move a replica to a broker that has at least two fewer; False if none can move."""
        order = sorted(self._racks, key=lambda b: (self._load[b], b))
        for source in reversed(order):
            for target in order:
                if self._load[source] - self._load[target] < 2:
                    break
                keys = [
                    key
                    for key in self._partitions_on[source]
                    if self._may_move(key, source, target)
                ]
                if keys:
                    # Not a leader, if there is a choice.
                    key = min(keys, key=lambda k: (self.chosen[k][0] == source, k))
                    self._replace(key, source, target)
                    return True
        return False

    def _may_move(self, key: TopicPartition, source: int, target: int) -> bool:
        replicas = self.chosen[key]
        if target in replicas:
            return False
        rack_counts = self._racks_of(replicas)
        return (
            self._rack(source) == self._rack(target)
            or not rack_counts[self._rack(target)]
            or rack_counts[self._rack(source)] > rack_counts[self._rack(target)]
        )

    def _leader_path(
        self, partitions_led: Mapping[int, set[TopicPartition]]
    ) -> list[tuple[TopicPartition, int]]:
        """Changes of leaders, as (partition, new leader), from a broker to one that leads at least
        two partitions fewer. Brokers between keep their number. Empty if there are none.
        """
        for start in sorted(partitions_led, key=lambda b: (-len(partitions_led[b]), b)):
            reached_by: dict[int, tuple[TopicPartition, int]] = {}
            queue = deque([start])
            while queue:
                broker = queue.popleft()
                if len(partitions_led[start]) - len(partitions_led[broker]) >= 2:
                    path = []
                    while broker != start:
                        key, previous = reached_by[broker]
                        path.append((key, broker))
                        broker = previous
                    return path
                for key in sorted(partitions_led[broker]):
                    for other in self.chosen[key][1:]:
                        if other != start and other not in reached_by:
                            reached_by[other] = (key, broker)
                            queue.append(other)
        return []

    def _rack(self, broker: int) -> object:
        """The rack of a broker; without one, the broker counts as a rack of its own."""
        rack = self._racks[broker]
        return ("broker", broker) if rack is None else ("rack", rack)

    def _racks_of(self, replicas: list[int]) -> Counter[object]:
        return Counter(map(self._rack, replicas))

    def _add_replica(self, key: TopicPartition, broker: int) -> None:
        self.chosen[key].append(broker)
        self._load[broker] += 1
        self._partitions_on[broker].add(key)

    def _remove_replica(self, key: TopicPartition, broker: int) -> None:
        self.chosen[key].remove(broker)
        self._load[broker] -= 1
        self._partitions_on[broker].discard(key)

    def _replace(self, key: TopicPartition, source: int, target: int) -> None:
        index = self.chosen[key].index(source)
        self._remove_replica(key, source)
        self._add_replica(key, target)
        self.chosen[key].insert(index, self.chosen[key].pop())
