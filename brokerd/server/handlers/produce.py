"""Produce: the Produces of one receive become one append per partition.

`add` checks a request's batches and files them under their partitions; `commit` appends, then
answers in order. Most requests repeat the one before up to the records: same client, same topic,
same partition. Such a request is recognised by comparing that one prefix (a *memo* of the
connection), and its reply is packed from a template.

A memo is good for one generation of the broker's partitions: any change of states or settings ends
it, so that leadership, in-sync replicas and limits need no check of their own per request.
"""

from __future__ import annotations

import logging
from struct import Struct
from typing import TYPE_CHECKING, Any

from brokerd.cluster.names import INTERNAL_TOPICS
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import RequestHeader, parse_header
from brokerd.protocol.messages import response_frame
from brokerd.protocol.produce import (
    PartitionRecords,
    PartitionReply,
    ProduceRequest,
    ResponseTemplate,
    decode_produce,
    encode_produce_response,
)
from brokerd.protocol.records import TRANSACTIONAL, check_batch
from brokerd.protocol.versions import is_flexible
from brokerd.server.handlers.produce_checks import check, opens_batches
from brokerd.server.refusals import count_refusal

if TYPE_CHECKING:
    from brokerd.log.append import AppendResult
    from brokerd.replication.partition import Partition
    from brokerd.server.broker import Broker
    from brokerd.server.connection import Connection

logger = logging.getLogger(__name__)

ACKS = (-1, 0, 1)
ACKS_ALL = -1
_LEGACY_SIZE = Struct(">i")
_FLEXIBLE_TAIL = b"\x00\x00\x00"

Outcomes = dict["Partition", "list[AppendResult] | KafkaError"]


class ProduceMemo:
    """What a request that begins like the last one needs no second look at."""

    __slots__ = (
        "acks", "flexible", "generation", "max_message_bytes", "partition", "prefix", "template",
        "timeout_ms", "topic", "version",
    )  # fmt: skip

    def __init__(
        self,
        prefix: bytes,
        version: int,
        generation: int,
        request: ProduceRequest,
        partition: Partition,
    ) -> None:
        self.prefix = prefix
        self.version = version
        self.generation = generation
        self.flexible = is_flexible(ApiKey.PRODUCE, version)
        self.acks = request.acks
        self.timeout_ms = request.timeout_ms
        self.partition = partition
        self.topic = request.partitions[0].topic
        self.max_message_bytes = partition.log.config.max_message_bytes
        self.template = ResponseTemplate(version, self.topic, request.partitions[0].partition)

    def records(
        self, buffer: bytearray, view: memoryview, position: int, end: int
    ) -> memoryview | None:
        """The records of a frame that begins like this memo; None if it goes on differently."""
        start = position + 12 + len(self.prefix)
        if not self.flexible:
            size = _LEGACY_SIZE.unpack_from(buffer, start)[0] if start + 4 <= end else -1
            return view[start + 4 : end] if size == end - start - 4 else None
        size = shift = 0
        while start < end and shift <= 28:
            byte = buffer[start]
            start += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        records_end = start + size - 1
        if records_end + 3 != end or buffer[records_end:end] != _FLEXIBLE_TAIL:
            return None
        return view[start:records_end]


class _Pending:
    """A request that is answered in the general way: several partitions, errors, first of a kind.

    `places` has, for each partition of the request, where its result will be: an error, or the
    partition and the index of its batch among that partition's batches.
    """

    __slots__ = ("correlation_id", "places", "request", "version")

    def __init__(
        self,
        version: int,
        correlation_id: int,
        request: ProduceRequest,
        places: list[KafkaError | tuple[Partition, int]],
    ) -> None:
        self.version = version
        self.correlation_id = correlation_id
        self.request = request
        self.places = places


class ProduceRound:
    """The Produces of one receive of one connection, between `add` and `commit`."""

    __slots__ = ("_broker", "_dirty", "_waiting")

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._dirty: dict[Partition, list[memoryview]] = {}
        self._waiting: list[tuple[ProduceMemo, int, int] | _Pending] = []

    def add(
        self,
        connection: Connection,
        buffer: bytearray,
        view: memoryview,
        position: int,
        end: int,
        version: int,
        correlation_id: int,
    ) -> None:
        """Takes in the frame `buffer[position:end]`."""
        memo: Any = connection.produce_memo
        if (
            memo is not None
            and memo.version == version
            and buffer.startswith(memo.prefix, position + 12, end)
            and memo.generation == self._broker.generation
        ):
            records = memo.records(buffer, view, position, end)
            if records is not None and self._add_checked(memo, records, correlation_id):
                return
        self._add_parsed(connection, view[position + 4 : end])

    def _add_checked(self, memo: ProduceMemo, records: memoryview, correlation_id: int) -> bool:
        try:
            header = check_batch(records, memo.max_message_bytes)
        except KafkaError:
            return False  # said by the general way
        if header.attributes & TRANSACTIONAL:
            return False
        batches = self._dirty.get(memo.partition)
        if batches is None:
            batches = self._dirty[memo.partition] = []
        self._waiting.append((memo, correlation_id, len(batches)))
        batches.append(records)
        return True

    def _add_parsed(self, connection: Connection, frame: memoryview) -> None:
        try:
            header = parse_header(frame)
            request = decode_produce(frame, header.body_position, header.api_version)
        except KafkaError as error:
            self.commit(connection)
            connection.close(str(error))
            return
        connection.last_header = header
        places: list[KafkaError | tuple[Partition, int]] = []
        for wanted in request.partitions:
            try:
                partition = self._admit(request, wanted)
            except KafkaError as error:
                places.append(error)
                continue
            batches = self._dirty.setdefault(partition, [])
            assert wanted.records is not None
            places.append((partition, len(batches)))
            batches.append(wanted.records)
        self._waiting.append(_Pending(header.api_version, header.correlation_id, request, places))
        if request.prefix_end >= 0 and isinstance(places[0], tuple):
            if opens_batches(self._broker.config, places[0][0].log.config):
                return
            connection.produce_memo = ProduceMemo(
                bytes(frame[8 : request.prefix_end]), header.api_version,
                self._broker.generation, request, places[0][0],
            )  # fmt: skip

    def _admit(self, request: ProduceRequest, wanted: PartitionRecords) -> Partition:
        """The partition that takes these records; KafkaError if it may or can not."""
        if request.acks not in ACKS:
            raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS, f"acks={request.acks}")
        if wanted.topic in INTERNAL_TOPICS:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{wanted.topic} is internal")
        partition = self._broker.leader_of(wanted.topic, wanted.partition)
        if wanted.records is None:
            raise KafkaError(ErrorCode.INVALID_RECORD, "no records were sent")
        if request.transactional_id is not None:
            raise KafkaError(ErrorCode.INVALID_TXN_STATE, "transactions are not served yet")
        broker = self._broker
        check(wanted.records, broker.config, partition.log.config, broker.clock)
        if request.acks == ACKS_ALL and partition.is_under_min_isr:
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS, f"fewer than {partition.min_isr} are in sync"
            )
        return partition

    def discard(self) -> None:
        """Forgets what was taken in: its buffers are about to be used for something else."""
        self._waiting, self._dirty = [], {}

    def commit(self, connection: Connection) -> None:
        """Appends what was taken in and answers in order."""
        waiting = self._waiting
        if not waiting:
            return
        dirty = self._dirty
        self._waiting, self._dirty = [], {}
        now_ms = self._broker.clock.now_ms()
        outcomes: Outcomes = {}
        for partition, batches in dirty.items():
            try:
                outcomes[partition] = partition.append(batches, now_ms)
            except KafkaError as error:
                outcomes[partition] = error
            except Exception:
                logger.exception("append to %s-%d failed", partition.topic, partition.index)
                outcomes[partition] = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        for each in waiting:
            if connection.closed:
                return
            if isinstance(each, tuple):
                self._answer_memo(connection, each, outcomes)
            else:
                self._answer(connection, each, outcomes)

    def _answer_memo(
        self, connection: Connection, each: tuple[ProduceMemo, int, int], outcomes: Outcomes
    ) -> None:
        memo, correlation_id, index = each
        partition = memo.partition
        outcome = outcomes[partition]
        if type(outcome) is list:
            base_offset, last_offset, append_time_ms, error, _ = outcome[index]
            if error is None and (memo.acks == 1 or partition.high_watermark > last_offset):
                if memo.acks:
                    connection.output.add(
                        memo.template.frame(
                            correlation_id, base_offset, append_time_ms, partition.log_start_offset
                        )
                    )
                return
        request = ProduceRequest(
            None, memo.acks, memo.timeout_ms,
            [PartitionRecords(memo.topic, partition.index, None)], -1,
        )  # fmt: skip
        pending = _Pending(memo.version, correlation_id, request, [(partition, index)])
        self._answer(connection, pending, outcomes)

    def _answer(self, connection: Connection, pending: _Pending, outcomes: Outcomes) -> None:
        """Replies, or parks an acks=all until the high watermark has passed its records."""
        request = pending.request
        replies: list[PartitionReply] = []
        behind: dict[int, tuple[Partition, int]] = {}
        for wanted, place in zip(request.partitions, pending.places, strict=True):
            reply, last_offset = _reply(wanted, place, outcomes)
            if reply.error:
                count_refusal(
                    self._broker, ApiKey.PRODUCE, wanted.topic, wanted.partition, reply.error,
                    len(wanted.records or b""),
                )  # fmt: skip
            if not isinstance(place, KafkaError) and last_offset >= place[0].high_watermark:
                behind[len(replies)] = (place[0], last_offset)
            replies.append(reply)
        if request.acks == 0:
            wrong = next((reply for reply in replies if reply.error), None)
            if wrong is not None:  # nothing can be answered; Kafka tells by closing, too
                connection.close(
                    f"a Produce with acks=0 failed: {ErrorCode(wrong.error).name} {wrong.message}"
                )
        elif request.acks == ACKS_ALL and behind:
            AwaitHighWatermark(self._broker, connection, pending, replies, behind).park()
        else:
            connection.output.add(_frame(pending, replies))


class AwaitHighWatermark:
    """An acks=all whose records are appended but not yet on all in-sync replicas."""

    __slots__ = ("_behind", "_broker", "_connection", "_pending", "_replies", "_slot")

    def __init__(
        self,
        broker: Broker,
        connection: Connection,
        pending: _Pending,
        replies: list[PartitionReply],
        behind: dict[int, tuple[Partition, int]],
    ) -> None:
        self._broker = broker
        self._connection = connection
        self._pending = pending
        self._replies = replies
        self._behind = behind
        self._slot = connection.output.reserve()

    def park(self) -> None:
        self._broker.parked.park(
            self._connection,
            {partition for partition, _ in self._behind.values()},
            self._pending.request.timeout_ms / 1000,
            self._check,
            lambda: self._finish(ErrorCode.REQUEST_TIMED_OUT),
            ApiKey.PRODUCE,
        )

    def _check(self) -> bool:
        for place, (partition, last_offset) in list(self._behind.items()):
            if not partition.is_leader:
                self._fail(place, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            elif partition.high_watermark > last_offset:
                del self._behind[place]
        if self._behind:
            return False
        self._finish(ErrorCode.NONE)
        return True

    def _fail(self, place: int, error: ErrorCode) -> None:
        reply = self._replies[place]
        count_refusal(self._broker, ApiKey.PRODUCE, reply.topic, reply.partition, error)
        self._replies[place] = reply._replace(error=int(error), base_offset=-1)
        del self._behind[place]

    def _finish(self, error: ErrorCode) -> None:
        for place in list(self._behind):
            self._fail(place, error)
        self._connection.deliver(self._slot, [_frame(self._pending, self._replies)])


def _reply(
    wanted: PartitionRecords, place: KafkaError | tuple[Partition, int], outcomes: Outcomes
) -> tuple[PartitionReply, int]:
    """One partition's reply, and the last offset that it stands for (-1 for none)."""
    if isinstance(place, KafkaError):
        outcome: Any = place
    else:
        outcome = outcomes[place[0]]
    if isinstance(outcome, KafkaError):
        return (
            PartitionReply(wanted.topic, wanted.partition, int(outcome.code), message=str(outcome)),
            -1,
        )
    assert not isinstance(place, KafkaError)
    partition, index = place
    result: AppendResult = outcome[index]
    if result.error is not None:
        return PartitionReply(wanted.topic, wanted.partition, int(result.error)), -1
    return (
        PartitionReply(
            wanted.topic, wanted.partition, 0, result.base_offset, result.log_append_time_ms,
            partition.log_start_offset,
        ),
        result.last_offset,
    )  # fmt: skip


def _frame(pending: _Pending, replies: list[PartitionReply]) -> bytes:
    body = encode_produce_response(pending.version, replies)
    return response_frame(ApiKey.PRODUCE, pending.version, pending.correlation_id, body)


def refuse_old_produce(connection: Connection, header: RequestHeader, frame: memoryview) -> None:
    """Produce 0-2 carries message formats before 0.11: every partition is told so."""
    try:
        request = decode_produce(frame, header.body_position, header.api_version)
    except KafkaError as error:
        connection.close(str(error))
        return
    if request.acks == 0:
        connection.close("a Produce of a version before 3 with acks=0")
        return
    replies = [
        PartitionReply(wanted.topic, wanted.partition, int(ErrorCode.UNSUPPORTED_VERSION))
        for wanted in request.partitions
    ]
    body = encode_produce_response(header.api_version, replies)
    connection.output.add(
        response_frame(ApiKey.PRODUCE, header.api_version, header.correlation_id, body)
    )
