"""Fetch: what lies below the high watermark, at once if it is enough, else when it is or in time.

Sessions (KIP-227) are declined by answering session id 0, which makes clients send full requests.
The first partition with records answers with a whole batch even if that is larger than allowed;
the others only with what the total still has room for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.fetch import (
    FetchPartition,
    FetchReply,
    FetchRequest,
    decode_fetch,
    encode_fetch_response,
)
from brokerd.protocol.framing import RequestHeader

if TYPE_CHECKING:
    from brokerd.replication.partition import Partition
    from brokerd.server.broker import Broker
    from brokerd.server.connection import Connection
    from brokerd.server.output import Slot


def serve_fetch(
    broker: Broker, connection: Connection, header: RequestHeader, frame: memoryview
) -> None:
    """Answers or parks one Fetch; KafkaError if it does not parse."""
    request = decode_fetch(frame, header.body_position, header.api_version)
    if request.session_id != 0:
        connection.output.add_parts(
            encode_fetch_response(
                header.api_version, header.correlation_id,
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND, [],
            )
        )  # fmt: skip
        return
    attempt = _Attempt(broker, request)
    if attempt.is_enough or request.max_wait_ms <= 0 or not attempt.partitions:
        connection.output.add_parts(
            encode_fetch_response(header.api_version, header.correlation_id, 0, attempt.taken())
        )
    else:
        attempt.release()
        _LongPoll(broker, connection, header, request, attempt.partitions).park()


class _Attempt:
    """One try at a request: the replies, and whether they are worth sending before time is up."""

    __slots__ = ("_counts", "_replies", "is_enough", "partitions")

    def __init__(self, broker: Broker, request: FetchRequest) -> None:
        self._replies: list[FetchReply] = []
        self._counts: list[Partition] = []
        self.partitions: list[Partition] = []
        room = min(request.max_bytes, broker.config.fetch_max_bytes)
        total = 0
        failed = False
        for wanted in request.partitions:
            try:
                partition = broker.leader_of(wanted.topic, wanted.partition, wanted.leader_epoch)
                self.partitions.append(partition)
                reply = _read(partition, wanted, room, first=total == 0)
            except KafkaError as error:
                failed = True
                self._replies.append(_failure(broker, wanted, error))
                continue
            if reply.records is not None:
                total += reply.records.size_bytes
                room -= reply.records.size_bytes
                self._counts.append(partition)
            self._replies.append(reply)
        self.is_enough = failed or total >= request.min_bytes

    def taken(self) -> list[FetchReply]:
        """The replies, to be sent; they count as read."""
        with_records = (reply for reply in self._replies if reply.records is not None)
        for partition, reply in zip(self._counts, with_records, strict=True):
            partition.bytes_out += reply.records.size_bytes
        return self._replies

    def release(self) -> None:
        """Gives the file ranges back unsent."""
        for reply in self._replies:
            if reply.records is not None:
                reply.records.release()


def _read(partition: Partition, wanted: FetchPartition, room: int, *, first: bool) -> FetchReply:
    high_watermark = partition.high_watermark
    log = partition.log
    if not log.log_start_offset <= wanted.offset <= log.log_end_offset:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {wanted.offset} is not in {log.log_start_offset} to {log.log_end_offset}",
        )
    records = None
    limit = min(wanted.max_bytes, room)
    if wanted.offset < high_watermark and (limit > 0 or first):
        records = log.read(wanted.offset, max(limit, 0), up_to=high_watermark, min_one_batch=first)
    return FetchReply(
        wanted.topic, wanted.partition, 0,
        high_watermark, high_watermark, log.log_start_offset, records,
    )  # fmt: skip


def _failure(broker: Broker, wanted: FetchPartition, error: KafkaError) -> FetchReply:
    partition = broker.replicas.get(wanted.topic, wanted.partition)
    if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE or partition is None:
        return FetchReply(wanted.topic, wanted.partition, int(error.code))
    return FetchReply(
        wanted.topic, wanted.partition, int(error.code),
        partition.high_watermark, partition.high_watermark, partition.log_start_offset,
    )  # fmt: skip


class _LongPoll:
    """A Fetch that waits for min_bytes or max_wait_ms."""

    __slots__ = ("_broker", "_connection", "_header", "_partitions", "_request", "_slot")

    def __init__(
        self,
        broker: Broker,
        connection: Connection,
        header: RequestHeader,
        request: FetchRequest,
        partitions: list[Partition],
    ) -> None:
        self._broker = broker
        self._connection = connection
        self._header = header
        self._request = request
        self._partitions = partitions
        self._slot: Slot = connection.output.reserve()

    def park(self) -> None:
        self._broker.parked.park(
            self._connection,
            self._partitions,
            self._request.max_wait_ms / 1000,
            self._check,
            lambda: self._send(_Attempt(self._broker, self._request)),
        )

    def _check(self) -> bool:
        attempt = _Attempt(self._broker, self._request)
        if not attempt.is_enough:
            attempt.release()
            return False
        self._send(attempt)
        return True

    def _send(self, attempt: _Attempt) -> None:
        self._connection.deliver(
            self._slot,
            encode_fetch_response(
                self._header.api_version, self._header.correlation_id, 0, attempt.taken()
            ),
        )
