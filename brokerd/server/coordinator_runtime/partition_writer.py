"""Appends the writes of a group coordinator to its partition, and reports what became of them
(Kafka's PartitionWriter).

All writes of one iteration of the event loop are appended together, in few batches. A write is

- done when the high watermark has passed its last record (`ack_watchers`);
- failed if it could not be appended; if only it cannot be encoded, the others are appended;
- timed out if the high watermark has not passed it after `offsets.commit.timeout.ms`: its request
  is answered with an error; it is done when the high watermark passes it.
"""

import logging
from functools import partial
from typing import NamedTuple, Protocol

from brokerd.coordinator.group.group_coordinator_record_serde import encode_key, encode_value
from brokerd.coordinator.group.messages import Write
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.assign_offsets import AppendResult
from brokerd.protocol.records import Record, encode_batch
from brokerd.replication.partition import Partition
from brokerd.server.requests.ack_watchers import REPLICATED, WAITS, AckWatchers

logger = logging.getLogger(__name__)

BATCH_BYTES_MAX = 256 * 1024
"""Keys and values in one batch; a larger record has a batch to itself."""

APPEND_RECORDS_MAX = 256
"""Records after which an append leaves further writes to the next iteration of the loop."""


class WriteEvents(Protocol):
    """Gets the outcome of each write (GroupRuntime): in the order of the writes, except those that
    cannot be encoded or appended, which fail at once."""

    def write_done(self, write_id: int) -> None: ...

    def write_failed(self, write_id: int, error: ErrorCode) -> None: ...

    def write_timed_out(self, write_id: int, error: ErrorCode) -> None: ...


class _Encoded(NamedTuple):
    write_id: int
    records: list[Record]


class _BatchPosition(NamedTuple):
    """Where a write is in the batches of one append."""

    write_id: int
    first_batch: int
    last_batch: int
    last_record: int
    """Index of its last record in its last batch."""


_MEMBER_ERRORS: dict[ErrorCode, ErrorCode] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}
"""What a member is answered for an append's error, as storeGroup and storeOffsets of Kafka's
GroupMetadataManager do it: errors that a consumer knows."""


class PartitionWriter:
    __slots__ = ("_acks", "_events", "_is_closed", "_partition", "_timeout_s", "queued")

    def __init__(
        self, partition: Partition, acks: AckWatchers, timeout_ms: int, events: WriteEvents
    ) -> None:
        self._partition = partition
        self._acks = acks
        self._timeout_s = timeout_ms / 1000
        self._events = events
        self._is_closed = False
        self.queued: list[Write] = []

    def add(self, writes: list[Write]) -> None:
        self.queued += writes

    def append_queued(self, now_ms: int) -> None:
        """Appends the queued writes, up to APPEND_RECORDS_MAX records."""
        writes = self._next_writes()
        if writes:
            self._append(writes, now_ms)

    def _next_writes(self) -> list[Write]:
        count = records = 0
        for write in self.queued:
            if records >= APPEND_RECORDS_MAX:
                break
            count += 1
            records += len(write.records)
        writes, self.queued = self.queued[:count], self.queued[count:]
        return writes

    def _append(self, writes: list[Write], now_ms: int) -> None:
        encoded = self._encoded(writes, now_ms)
        if not encoded:
            return
        try:
            batches, places = _pack(encoded)
            if self._partition.is_under_min_isr:
                raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
            results = self._partition.append(batches, now_ms)
        except Exception as error:  # else the requests of these writes would wait for ever
            code = _code_of(error)
            for write in encoded:
                self._events.write_failed(write.write_id, code)
            return
        for place in places:
            self._report_when_safe(place, results)

    def _encoded(self, writes: list[Write], now_ms: int) -> list[_Encoded]:
        encoded = []
        for write in writes:
            try:
                records = [
                    Record(-1, now_ms, encode_key(each), encode_value(each))
                    for each in write.records
                ]
            except Exception as error:  # the other writes are appended
                self._events.write_failed(write.write_id, _code_of(error))
                continue
            encoded.append(_Encoded(write.write_id, records))
        return encoded

    def _report_when_safe(self, place: _BatchPosition, results: list[AppendResult]) -> None:
        results_of_write = results[place.first_batch : place.last_batch + 1]
        errors = [result.error for result in results_of_write if result.error]
        if errors:
            self._events.write_failed(place.write_id, _MEMBER_ERRORS.get(errors[0], errors[0]))
            return
        last_offset = results_of_write[-1].base_offset + place.last_record
        if last_offset < self._partition.high_watermark:
            self._events.write_done(place.write_id)
            return
        self._acks.add(
            self._partition, REPLICATED, last_offset, self._timeout_s,
            partial(self._acknowledged, place.write_id),
        )  # fmt: skip

    def _acknowledged(self, write_id: int, error: ErrorCode) -> object:
        if self._is_closed:
            return None
        if error is ErrorCode.REQUEST_TIMED_OUT:
            self._events.write_timed_out(write_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return WAITS
        if error:
            self._events.write_failed(write_id, _MEMBER_ERRORS.get(error, error))
        else:
            self._events.write_done(write_id)
        return None

    def close(self) -> None:
        """The coordinator has ended: reports no more outcomes."""
        self._is_closed = True


def _code_of(error: Exception) -> ErrorCode:
    """The error code for a member. An unexpected error is logged."""
    if isinstance(error, KafkaError):
        return _MEMBER_ERRORS.get(error.code, error.code)
    logger.error("group records could not be written", exc_info=error)
    return ErrorCode.UNKNOWN_SERVER_ERROR


def _pack(writes: list[_Encoded]) -> tuple[list[bytearray], list[_BatchPosition]]:
    """The records of all writes in as few batches as their size allows, and where each write is."""
    batches: list[list[Record]] = [[]]
    places: list[_BatchPosition] = []
    size_bytes = 0
    for write in writes:
        first_batch = -1
        for record in write.records:
            record_bytes = len(record.key or b"") + len(record.value or b"")
            if batches[-1] and size_bytes + record_bytes > BATCH_BYTES_MAX:
                batches.append([])
                size_bytes = 0
            size_bytes += record_bytes
            batches[-1].append(record)
            if first_batch < 0:
                first_batch = len(batches) - 1
        places.append(
            _BatchPosition(write.write_id, first_batch, len(batches) - 1, len(batches[-1]) - 1)
        )
    return [encode_batch(records) for records in batches], places
