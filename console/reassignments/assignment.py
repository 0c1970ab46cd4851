"""An assignment of partitions to brokers that moves little. Pure.

Replicas that may stay do stay. Then replicas move from brokers with more to brokers with fewer, as
long as that makes the counts more even and no partition lies on fewer racks. At last the order of
the replicas changes, so that the preferred leaders are even too; that moves no data. Only the
given partitions are counted.
"""

from collections import Counter, deque
from collections.abc import Mapping

from monitoring.gateway.topic_partition import TopicPartition

Replicas = tuple[int, ...]
Assignment = dict[TopicPartition, Replicas]


def assign(
    current: Mapping[TopicPartition, Replicas],
    racks: Mapping[int, str | None],
    factors: Mapping[str, int] | None = None,
) -> Assignment:
    """The new replicas of each partition.

    `racks` has the brokers to use. `factors` has replication factors by topic; other topics keep
    theirs. Raises ValueError if a factor is larger than the number of brokers.
    """
    work = _Work(racks)
    for key, replicas in sorted(current.items()):
        factor = (factors or {}).get(key[0], len(replicas))
        if not 0 < factor <= len(racks):
            raise ValueError(f"{factor} replicas on {len(racks)} brokers")
        work.add(key, replicas, factor)
    work.fill()
    work.balance()
    work.balance_leaders()
    return {key: tuple(work.chosen[key]) for key in current}


class _Work:
    """The assignment while it is made."""

    def __init__(self, racks: Mapping[int, str | None]) -> None:
        self._racks = racks
        self.chosen: dict[TopicPartition, list[int]] = {}
        self._factors: dict[TopicPartition, int] = {}
        self._load: Counter[int] = Counter(dict.fromkeys(racks, 0))
        self._on: dict[int, set[TopicPartition]] = {broker: set() for broker in racks}

    def add(self, key: TopicPartition, replicas: Replicas, factor: int) -> None:
        """A partition, with the replicas that may stay."""
        self.chosen[key] = []
        self._factors[key] = factor
        for broker in dict.fromkeys(replicas):
            if broker in self._racks:
                self._put(key, broker)

    def fill(self) -> None:
        """Remove and add replicas until each partition has its factor."""
        for key, replicas in self.chosen.items():
            while len(replicas) > self._factors[key]:
                used = self._racks_of(replicas)
                # Of two on one rack the fuller broker; the leader last.
                worst = max(
                    replicas,
                    key=lambda b: (used[self._rack(b)] > 1, b != replicas[0], self._load[b], b),
                )
                self._drop(key, worst)
        for key, replicas in self.chosen.items():
            while len(replicas) < self._factors[key]:
                used = self._racks_of(replicas)
                free = (broker for broker in self._racks if broker not in replicas)
                self._put(key, min(free, key=lambda b: (used[self._rack(b)], self._load[b], b)))

    def balance(self) -> None:
        """Spread partitions over racks, then move from fuller to emptier brokers."""
        for key in self.chosen:
            self._spread(key)
        while self._move_one():
            pass

    def balance_leaders(self) -> None:
        """Change the order of replicas until the numbers of preferred leaders are even."""
        led: dict[int, set[TopicPartition]] = {broker: set() for broker in self._racks}
        for key, replicas in self.chosen.items():
            led[replicas[0]].add(key)
        while path := self._leader_path(led):
            for key, broker in path:
                replicas = self.chosen[key]
                led[replicas[0]].discard(key)
                replicas.remove(broker)
                replicas.insert(0, broker)
                led[broker].add(key)

    def _spread(self, key: TopicPartition) -> None:
        """Move the partition's replicas from racks with several to racks with none."""
        while True:
            replicas = self.chosen[key]
            used = self._racks_of(replicas)
            free = [b for b in self._racks if not used[self._rack(b)]]
            double = [b for b in replicas if used[self._rack(b)] > 1]
            if not free or not double:
                return
            target = min(free, key=lambda b: (self._load[b], b))
            source = max(double, key=lambda b: (b != replicas[0], self._load[b], b))
            self._replace(key, source, target)

    def _move_one(self) -> bool:
        """Move a replica to a broker that has at least two fewer; False if none can move."""
        order = sorted(self._racks, key=lambda b: (self._load[b], b))
        for source in reversed(order):
            for target in order:
                if self._load[source] - self._load[target] < 2:
                    break
                keys = [key for key in self._on[source] if self._may_move(key, source, target)]
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
        used = self._racks_of(replicas)
        return (
            self._rack(source) == self._rack(target)
            or not used[self._rack(target)]
            or used[self._rack(source)] > used[self._rack(target)]
        )

    def _leader_path(
        self, led: Mapping[int, set[TopicPartition]]
    ) -> list[tuple[TopicPartition, int]]:
        """Changes of leaders that end at a broker with at least two fewer than the first one.

        Every broker between keeps its number. Empty if there are none.
        """
        for start in sorted(led, key=lambda b: (-len(led[b]), b)):
            came_by: dict[int, tuple[TopicPartition, int]] = {}
            queue = deque([start])
            while queue:
                broker = queue.popleft()
                if len(led[start]) - len(led[broker]) >= 2:
                    path = []
                    while broker != start:
                        key, previous = came_by[broker]
                        path.append((key, broker))
                        broker = previous
                    return path
                for key in sorted(led[broker]):
                    for other in self.chosen[key][1:]:
                        if other != start and other not in came_by:
                            came_by[other] = (key, broker)
                            queue.append(other)
        return []

    def _rack(self, broker: int) -> object:
        """A broker without a rack counts as a rack of its own."""
        rack = self._racks[broker]
        return ("broker", broker) if rack is None else ("rack", rack)

    def _racks_of(self, replicas: list[int]) -> Counter[object]:
        return Counter(map(self._rack, replicas))

    def _put(self, key: TopicPartition, broker: int) -> None:
        self.chosen[key].append(broker)
        self._load[broker] += 1
        self._on[broker].add(key)

    def _drop(self, key: TopicPartition, broker: int) -> None:
        self.chosen[key].remove(broker)
        self._load[broker] -= 1
        self._on[broker].discard(key)

    def _replace(self, key: TopicPartition, source: int, target: int) -> None:
        place = self.chosen[key].index(source)
        self._drop(key, source)
        self._put(key, target)
        self.chosen[key].insert(place, self.chosen[key].pop())
