"""Where a console-consumer of a group begins in each partition, which it commits from the start.

Java's consumer has a position in every partition that it is assigned, also where it has read
nothing, and commits them all. librdkafka commits only behind what it handed out, so that a group
that found nothing would pass over whatever comes until its next start.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from brokerd.topic_partition import TopicPartition

ASK_S = 5.0
Assigned = Callable[[Any, list[Any]], None]


def resolver(settings: Mapping[str, str]) -> Assigned | None:
    """For `subscribe`, what to do with partitions that are assigned; None where librdkafka's own
    way is meant. `settings` are checked ones, by librdkafka's names."""
    reset = settings.get("auto.offset.reset")
    if settings.get("enable.auto.commit") == "false" or reset not in ("earliest", "latest"):
        return None
    cooperative = settings.get("partition.assignment.strategy") == "cooperative-sticky"

    from confluent_kafka import KafkaException

    def assigned(consumer: Any, partitions: list[Any]) -> None:
        begin, found = _positions(consumer, partitions, reset == "latest")
        assign = consumer.incremental_assign if cooperative else consumer.assign
        assign(begin)
        with suppress(KafkaException):  # the group may be at its next rebalance already
            if found:
                consumer.commit(offsets=found, asynchronous=True)

    return assigned


def _positions(consumer: Any, partitions: list[Any], latest: bool) -> tuple[list[Any], list[Any]]:
    """The committed offsets, or where there are none, or their records are deleted, those of
    `auto.offset.reset`; and which are of the latter kind. If no broker returns them, librdkafka
    finds them in its own time."""
    from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaException

    try:
        begin = consumer.committed(partitions, timeout=ASK_S)
        starts = _ask(consumer, begin, OFFSET_BEGINNING)
        below = [each for each in begin if each.error is None and each.offset < starts[_key(each)]]
        resets = _ask(consumer, below, OFFSET_END) if latest and below else starts
    except KafkaException:
        return partitions, []
    for each in below:
        each.offset = resets[_key(each)]
    return begin, [each for each in below if each.offset >= 0]


def _ask(consumer: Any, partitions: Sequence[Any], place: int) -> dict[TopicPartition, int]:
    """ListOffsets, whose special timestamps are librdkafka's special offsets, at the consumer's
    isolation level; librdkafka's OFFSET_INVALID, which is below zero, where there was an error."""
    from confluent_kafka import OFFSET_INVALID, TopicPartition

    asked = [TopicPartition(each.topic, each.partition, place) for each in partitions]
    answers = consumer.offsets_for_times(asked, timeout=ASK_S)
    return {_key(each): each.offset if each.error is None else OFFSET_INVALID for each in answers}


def _key(partition: Any) -> TopicPartition:
    return partition.topic, partition.partition
