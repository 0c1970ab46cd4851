"""The order in which maps and sets of Java and Scala return their keys, as Kafka's tools print."""

from collections.abc import Iterable

from brokerd.coordinator.group.partitioner import java_string_hash
from brokerd.topic_partition import TopicPartition

_CAPACITY_MIN = 16


def hash_map_order(names: Iterable[str], *, sized: bool = False) -> list[str]:
    """The order in which a `HashMap` with these keys, put in this order, gives them back; `sized`
    is one that was made for as many keys as there are."""
    keys = list(dict.fromkeys(names))
    capacity = 1 << max(0, len(keys) - 1).bit_length() if sized else _CAPACITY_MIN
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _spread(key) & (capacity - 1))


def hash_set_order(by_topic: Iterable[tuple[str, tuple[int, ...]]]) -> list[TopicPartition]:
    """The order in which Scala's mutable set of `TopicPartition`, to which they were added topic
    by topic, gives them back."""
    found: set[TopicPartition] = set()
    capacity = _CAPACITY_MIN
    for topic, indexes in by_topic:
        wanted = int((len(set(indexes)) + 1) / 0.75)
        capacity = max(capacity, 1 << max(0, wanted - 1).bit_length())
        for index in dict.fromkeys(indexes):
            if len(found) + 1 >= capacity * 3 // 4:
                capacity *= 2
            found.add((topic, index))

    def place(each: TopicPartition) -> tuple[int, int]:
        return _scala_place(31 * (31 + each[1]) + java_string_hash(each[0]), capacity)

    return sorted(found, key=place)


def scala_map_order(names: Iterable[str]) -> list[str]:
    """The order in which Scala's mutable map with these keys gives them back."""
    keys = list(dict.fromkeys(names))
    capacity = _CAPACITY_MIN
    while len(keys) >= capacity * 3 // 4:
        capacity *= 2
    return sorted(keys, key=lambda key: _scala_place(java_string_hash(key), capacity))


def _scala_place(code: int, capacity: int) -> tuple[int, int]:
    spread = _mixed(code)
    return spread & (capacity - 1), spread - (spread >> 31 << 32)


def _spread(key: str) -> int:
    return _mixed(java_string_hash(key))


def _mixed(code: int) -> int:
    code &= 0xFFFFFFFF
    return code ^ code >> 16
