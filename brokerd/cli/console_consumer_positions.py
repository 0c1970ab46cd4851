"""The offsets at which a console-consumer of a group begins, committed as soon as they are known.

Java's consumer commits its position also where it read nothing. librdkafka does not: at its next
start such a group would skip the records that came in between.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, OFFSET_INVALID, KafkaException
from confluent_kafka import TopicPartition as ConsumerPosition

from brokerd.topic_partition import TopicPartition

REQUEST_TIMEOUT_S = 5.0
Assigned = Callable[[Any, list[Any]], None]


def on_assign_callback(settings: Mapping[str, str]) -> Assigned | None:
    """The `on_assign` callback for `subscribe`; None if librdkafka's default is enough."""
    reset = settings.get("auto.offset.reset")
    if settings.get("enable.auto.commit") == "false" or reset not in ("earliest", "latest"):
        return None
    cooperative = settings.get("partition.assignment.strategy") == "cooperative-sticky"

    def assigned(consumer: Any, partitions: list[Any]) -> None:
        begin, found = _positions(consumer, partitions, reset == "latest")
        assign = consumer.incremental_assign if cooperative else consumer.assign
        assign(begin)
        with suppress(KafkaException):  # the group may be at its next rebalance already
            if found:
                consumer.commit(offsets=found, asynchronous=True)

    return assigned


def _positions(consumer: Any, partitions: list[Any], latest: bool) -> tuple[list[Any], list[Any]]:
    """Each partition with the offset to begin at: the committed one, or that of `auto.offset.reset`
    if there is none or its records were deleted. The second list has only the latter, which are to
    be committed. If no broker answers, librdkafka resolves the offsets later."""
    try:
        begin = consumer.committed(partitions, timeout=REQUEST_TIMEOUT_S)
        starts = _list_offsets(consumer, begin, OFFSET_BEGINNING)
        below = [each for each in begin if each.error is None and each.offset < starts[_key(each)]]
        resets = _list_offsets(consumer, below, OFFSET_END) if latest and below else starts
    except KafkaException:
        return partitions, []
    for each in below:
        each.offset = resets[_key(each)]
    return begin, [each for each in below if each.offset >= 0]


def _list_offsets(
    consumer: Any, partitions: Sequence[Any], place: int
) -> dict[TopicPartition, int]:
    """ListOffsets at the consumer's isolation level. The special timestamps are the numbers of
    librdkafka's special offsets. An error gives OFFSET_INVALID, which is below zero."""
    asked = [ConsumerPosition(each.topic, each.partition, place) for each in partitions]
    answers = consumer.offsets_for_times(asked, timeout=REQUEST_TIMEOUT_S)
    return {_key(each): each.offset if each.error is None else OFFSET_INVALID for each in answers}


def _key(partition: Any) -> TopicPartition:
    return partition.topic, partition.partition
