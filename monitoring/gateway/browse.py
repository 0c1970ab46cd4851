"""Records by partition and offset, newest first, in bounded portions.

A consumer without a group reads from assigned positions: nothing is committed, no group appears
on the cluster. Bounded by count, bytes and time. A partition that could not be read, or not to its
end, is named in the answer with the reason; one without a leader is not even asked.
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

LIMIT_MAX = 500
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


# Why a partition is missing in a portion, or its newest records are.
NO_LEADER = "no leader"
SILENT = "silent"  # its leader did not answer, or not in time
TOO_MUCH = "too much"  # a bound was reached before its end
FAILED = "failed"  # the broker refused; `detail` says why


@dataclass(frozen=True, slots=True)
class Unread:
    """A partition that was not read, or not to its end."""

    partition: int
    why: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Portion:
    """What one read brought."""

    rows: tuple[RecordRow, ...]
    unread: tuple[Unread, ...] = ()


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
    ) -> Portion:
        """Up to `limit` records, newest first, and the partitions that are missing in them.

        `offset` None = the newest ones of `partition`, or of all partitions when that is None,
        too; an offset (with a partition) = from there upwards. Raises NotFound, OffsetOutOfRange,
        ClusterUnavailable or Refused.
        """
        limit = max(1, min(limit, LIMIT_MAX))
        if offset is not None and partition is None:
            raise NotFound("an offset needs a partition")
        with translated(), self._consumer("earliest" if offset is None else "error") as consumer:
            leaders = _leaders(consumer, topic)
            if partition is not None and partition not in leaders:
                raise NotFound(f"topic {topic} has no partition {partition}")
            asked = sorted(leaders) if partition is None else [partition]
            led = [number for number in asked if leaders[number] >= 0]
            unread = [Unread(number, NO_LEADER) for number in asked if leaders[number] < 0]
            if not led:
                return Portion((), tuple(unread))
            if offset is None:
                rows, left = _newest(consumer, topic, led, limit, max_bytes)
            else:
                rows, left = _from(consumer, topic, led[0], offset, limit, max_bytes)
        shown = sorted(rows, key=_age)
        return Portion(
            tuple(shown[:limit] if offset is None else shown),
            tuple(sorted([*unread, *left], key=lambda gap: gap.partition)),
        )

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


def _leaders(consumer: Consumer, topic: str) -> dict[int, int]:
    """Partition → the broker that leads it now, −1 = none."""
    told = consumer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
    if told.error is not None:
        raise translate(told.error)
    return {number: place.leader for number, place in told.partitions.items()}


def _newest(
    consumer: Consumer, topic: str, partitions: list[int], limit: int, max_bytes: int
) -> tuple[list[RecordRow], list[Unread]]:
    """About the last `limit` records of every partition."""
    each = max(1, min(limit, _RECORDS_MAX // len(partitions)))
    consumer.assign([TopicPartition(topic, number, _TAIL - each) for number in partitions])
    return _collect(consumer, partitions, _RECORDS_MAX + len(partitions), max_bytes)


def _from(
    consumer: Consumer, topic: str, partition: int, offset: int, limit: int, max_bytes: int
) -> tuple[list[RecordRow], list[Unread]]:
    place = TopicPartition(topic, partition)
    try:
        low, high = consumer.get_watermark_offsets(place, timeout=_TIMEOUT_S)
    except KafkaException as error:
        if isinstance(translate(error.args[0]), ClusterUnavailable):
            return [], [Unread(partition, SILENT)]  # others answered: only its leader does not
        raise
    if not low <= offset <= high:
        raise OffsetOutOfRange(_range(topic, partition, low, high))
    if offset == high:
        return [], []
    place.offset = OFFSET_BEGINNING if offset == low else offset
    consumer.assign([place])
    rows, left = _collect(consumer, [partition], limit, max_bytes)
    # A portion is what was asked for here: that there is more behind it is no fault.
    return rows, [] if rows else left


def _range(topic: str, partition: int, low: int, high: int) -> str:
    if high > low:
        return f"partition {partition} of {topic} holds offsets {low} to {high - 1}"
    return f"partition {partition} of {topic} is empty; the next offset is {high}"


def _collect(
    consumer: Consumer, partitions: list[int], limit: int, max_bytes: int
) -> tuple[list[RecordRow], list[Unread]]:
    """Records until every partition is read to its end, or a bound is reached."""
    rows: list[RecordRow] = []
    unread: list[Unread] = []
    waiting, size_bytes = set(partitions), 0
    deadline = time.monotonic() + _TIMEOUT_S
    while waiting and len(rows) < limit and size_bytes < max_bytes:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        message = consumer.poll(min(left_s, 0.5))
        if message is None:
            continue
        error, partition = message.error(), message.partition()
        if error is None:
            rows.append(_row(message))
            size_bytes += len(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            waiting.discard(partition)
        elif len(partitions) == 1:
            raise KafkaException(error)
        elif partition in waiting:
            waiting.discard(partition)
            unread.append(Unread(partition, FAILED, translate(error).message))
    why = TOO_MUCH if size_bytes >= max_bytes or len(rows) >= limit else SILENT
    return rows, unread + [Unread(number, why) for number in sorted(waiting)]


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
