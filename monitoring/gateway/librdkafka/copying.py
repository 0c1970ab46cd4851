"""Copies records to another topic or cluster with librdkafka. Runs only in a worker process.

Records are copied in batches: the next batch is read when the last one was acknowledged. So a call
that fails says exactly which records were acknowledged.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.error_reason import Reason
from monitoring.gateway import request_timeouts
from monitoring.gateway.librdkafka.error_mapping import gateway_error_of, raising_gateway_errors
from monitoring.gateway.librdkafka.produce_calls import open_producer, send
from monitoring.gateway.producing import CopyOutcome, CopyRequest, NewRecord, WriteOutcome
from monitoring.gateway.record_row import Headers, RecordRow

_BATCH_RECORDS, _BATCH_BYTES = 500, 4 << 20


def copy(
    source: ClientSettings, target: ClientSettings, request: CopyRequest, timeout_s: float
) -> CopyOutcome:
    """Implements `Producing.copy`."""
    with raising_gateway_errors(), _open_consumer(source) as consumer:
        producer, partitions = open_producer(target, request.target, "none", timeout_s)
        position = TopicPartition(request.source, request.partition, request.first)
        consumer.assign([position])
        return _Copy(request, consumer, producer, partitions, timeout_s).run()


@contextmanager
def _open_consumer(settings: ClientSettings) -> Iterator[Consumer]:
    """A consumer that is closed at the end. It reads committed records of assigned partitions and
    joins no group: it commits nothing, and no group appears on the cluster."""
    consumer = Consumer(
        {
            **settings.librdkafka(),
            "client.id": "aerie-copy",
            "group.id": "aerie-copy",  # librdkafka requires a name; the group is never joined
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
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


class _Copy:
    """One call: its request, its clients, and how far it came."""

    def __init__(
        self,
        request: CopyRequest,
        consumer: Consumer,
        producer: Producer,
        partitions: set[int],
        timeout_s: float,
    ) -> None:
        self._request, self._consumer, self._producer = request, consumer, producer
        self._partitions, self._timeout_s = partitions, timeout_s
        self._next = request.first  # all records before it were acknowledged
        self._read_to = request.first  # all records before it were read
        self._written: list[WriteOutcome] = []
        self._is_at_end = False  # of the committed records

    def run(self) -> CopyOutcome:
        request = self._request
        deadline = time.monotonic() + request.seconds
        while self._next < request.end and len(self._written) < request.records_max:
            try:
                rows = self._read(min(_BATCH_RECORDS, request.records_max - len(self._written)))
            except KafkaException as error:
                if not self._written:
                    raise
                mapped = gateway_error_of(error.args[0])
                return self._outcome(mapped.message, retriable=mapped.retriable)
            if failed := self._write(rows):
                return failed
            self._next = min(self._read_to, request.end)
            if (not rows or self._is_at_end) and self._next < request.end:
                return self._outcome(self._why_nothing_was_read(), retriable=True)
            if time.monotonic() > deadline:
                break
        return self._outcome()

    def _read(self, records_max: int) -> list[RecordRow]:
        """The next records; [] if there are none in time. Moves `_read_to`."""
        rows: list[RecordRow] = []
        size_bytes, silent_since_s = 0, time.monotonic()
        while (
            len(rows) < records_max
            and size_bytes < _BATCH_BYTES
            and self._read_to < self._request.end
        ):
            message = self._consumer.poll(0.2)
            if message is None:
                if rows or time.monotonic() - silent_since_s > request_timeouts.SILENT_LEADER_S:
                    break
                continue
            error, offset = message.error(), message.offset() or 0
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            if error is not None:
                self._read_to, self._is_at_end = max(self._read_to, offset), True
                break
            if offset >= self._request.end:
                self._read_to = self._request.end
                break
            rows.append(_row_of(message, offset))
            size_bytes += rows[-1].size_bytes
            self._read_to = offset + 1
        return rows

    def _write(self, rows: list[RecordRow]) -> CopyOutcome | None:
        """Write a batch; None if all were acknowledged, else the outcome of the whole call."""
        partition = self._request.partition if self._request.keeps_partition else None
        records = [
            NewRecord(row.key, row.value, row.headers, partition, row.timestamp_ms) for row in rows
        ]
        if not records:
            return None
        target = self._request.target
        outcomes = send(self._producer, target, self._partitions, records, self._timeout_s)
        self._written += [each for each in outcomes if each.offset is not None]
        first = next((n for n, each in enumerate(outcomes) if each.offset is None), None)
        if first is None:
            return None
        self._next = rows[first].offset
        failed = [each for each in outcomes[first:] if each.offset is None]
        return CopyOutcome(
            self._next,
            tuple(self._written),
            len(outcomes) - first - len(failed),
            sum(each.is_unknown for each in failed),
            failed[0].error,
            failed[0].retriable,
        )

    def _why_nothing_was_read(self) -> Reason:
        if self._is_at_end:
            number = self._request.partition
            return Reason("open_transaction", partition=number, offset=self._next)
        return Reason(
            "partition_unread", topic=self._request.source, partition=self._request.partition
        )

    def _outcome(self, error: str = "", *, retriable: bool = False) -> CopyOutcome:
        written = tuple(self._written)
        return CopyOutcome(self._next, written, error=error, retriable=retriable)


def _row_of(message: Message, offset: int) -> RecordRow:
    """The record of a message without an error."""
    kind, timestamp_ms = message.timestamp()
    return RecordRow(
        partition=message.partition() or 0,
        offset=offset,
        timestamp_ms=timestamp_ms if kind else None,
        key=message.key(),
        value=message.value(),
        headers=cast(Headers, tuple(message.headers() or ())),
    )
