"""Records by partition and offset, newest first, in bounded portions.

A consumer without a group reads from assigned positions: nothing is committed, no group appears
on the cluster. Bounded by count, bytes and time; what a read could not reach in time is left out
only where other partitions did answer.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from monitoring.gateway.errors import ClusterUnavailable, NotFound, OffsetOutOfRange
from monitoring.gateway.kafka_errors import translate, translated

LIMIT_MAX = 1000
_BYTES_MAX = 8 * 1024 * 1024
_TIMEOUT_S = 5.0
_RECORDS_MAX = 5000  # read to find the newest of all partitions
_TAIL = -2000  # librdkafka: position _TAIL − n = n before the end


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record as it lies in the log; bytes are not interpreted."""

    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class Browse:
    """Reads records of one cluster."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers

    def read(
        self,
        topic: str,
        partition: int | None,
        offset: int | None,
        limit: int,
        max_bytes: int = _BYTES_MAX,
    ) -> list[RecordRow]:
        """Up to `limit` records, newest first.

        `offset` None = the newest ones of `partition`, or of all partitions when that is None,
        too; an offset (with a partition) = from there upwards. Raises NotFound, OffsetOutOfRange,
        ClusterUnavailable or Refused.
        """
        limit = max(1, min(limit, LIMIT_MAX))
        with translated(), self._consumer("earliest" if offset is None else "error") as consumer:
            numbers = _partitions(consumer, topic)
            if partition is not None and partition not in numbers:
                raise NotFound(f"topic {topic} has no partition {partition}")
            if offset is None:
                chosen = numbers if partition is None else [partition]
                each = max(1, min(limit, _RECORDS_MAX // len(chosen)))
                rows = _newest(consumer, topic, chosen, each, max_bytes)
            else:
                if partition is None:
                    raise NotFound("an offset needs a partition")
                rows = _from(consumer, topic, partition, offset, limit, max_bytes)
        return sorted(rows, key=_age)[:limit] if offset is None else sorted(rows, key=_age)

    @contextmanager
    def _consumer(self, reset: str) -> Iterator[Consumer]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "client.id": "aerie-browse",
                "group.id": "aerie-browse",  # named by librdkafka's rules, never joined
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": reset,
                "fetch.wait.max.ms": 50,
                "fetch.message.max.bytes": 1024 * 1024,
                "queued.max.messages.kbytes": 16 * 1024,
                "log_level": 0,
            }
        )
        try:
            yield consumer
        finally:
            consumer.close()


def _age(row: RecordRow) -> tuple[int, int, int]:
    """Newest first; records without a time come last, each partition from its end."""
    return (-(row.timestamp_ms or 0), row.partition, -row.offset)


def _partitions(consumer: Consumer, topic: str) -> list[int]:
    told = consumer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
    if told.error is not None:
        raise translate(told.error)
    return sorted(told.partitions)


def _newest(
    consumer: Consumer, topic: str, partitions: list[int], each: int, max_bytes: int
) -> list[RecordRow]:
    """About the last `each` records of every partition."""
    consumer.assign([TopicPartition(topic, number, _TAIL - each) for number in partitions])
    return _collect(consumer, len(partitions), _RECORDS_MAX + len(partitions), max_bytes)


def _from(
    consumer: Consumer, topic: str, partition: int, offset: int, limit: int, max_bytes: int
) -> list[RecordRow]:
    place = TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(place, timeout=_TIMEOUT_S)
    if not low <= offset <= high:
        raise OffsetOutOfRange(
            f"partition {partition} of {topic} holds offsets {low} to {high - 1}"
            if high > low
            else f"partition {partition} of {topic} is empty; the next offset is {high}"
        )
    if offset == high:
        return []
    place.offset = OFFSET_BEGINNING if offset == low else offset
    consumer.assign([place])
    return _collect(consumer, 1, limit, max_bytes)


def _collect(consumer: Consumer, ends: int, limit: int, max_bytes: int) -> list[RecordRow]:
    """Records until `ends` partitions are read to their end, or a bound is reached."""
    rows: list[RecordRow] = []
    size_bytes, ended = 0, 0
    deadline = time.monotonic() + _TIMEOUT_S
    while ended < ends and len(rows) < limit and size_bytes < max_bytes:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            if not rows and not ended:
                raise ClusterUnavailable(f"no record came within {_TIMEOUT_S:.0f} seconds")
            break
        message = consumer.poll(min(left_s, 0.5))
        if message is None:
            continue
        error = message.error()
        if error is None:
            rows.append(_row(message))
            size_bytes += len(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            ended += 1
        elif ends == 1:
            raise KafkaException(error)
    return rows


def _row(message: Message) -> RecordRow:
    kind, timestamp_ms = message.timestamp()
    return RecordRow(
        partition=message.partition(),
        offset=message.offset(),
        timestamp_ms=timestamp_ms if kind else None,
        key=message.key(),
        value=message.value(),
        headers=tuple(message.headers() or ()),
    )
