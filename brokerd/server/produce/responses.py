"""Answers of Produces that are not simply repeats: several partitions, refusals, records that are
still in a queue, records that are not yet on all in-sync replicas or, with flush.messages, on the
disk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from brokerd.errors import ErrorCode, KafkaError, NoBatchError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import RequestHeader
from brokerd.protocol.messages import response_frame
from brokerd.protocol.produce import (
    PartitionRecords,
    PartitionReply,
    ProduceRequest,
    decode_produce,
    encode_produce_response,
)
from brokerd.protocol.record_walk import RefusedRecords
from brokerd.server.produce.append_queues import AppendFuture
from brokerd.server.requests.ack_timers import REPLICATED, SYNCED
from brokerd.server.requests.delayed_operations import close_unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from brokerd.log.append import AppendResult
    from brokerd.replication.partition import Partition
    from brokerd.server.network.connection import Connection
    from brokerd.server.network.output import Slot
    from brokerd.server.requests.ack_timers import Mark
    from brokerd.server.requests.delayed_operations import Purgatory
    from brokerd.server.requests.led_partitions import LedPartitions
    from brokerd.server.requests.request_times import Since

ACKS_ALL = -1
SYNC_TIMEOUT_S = 60.0
PARTITION_BYTES = 500
"""What a request that waits counts as for each partition but the first: its answer, and what it
waits for."""
_WITH_LOG_START = frozenset(
    {
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    }
)
"""Errors with which Kafka answers the log start offset, as without an error."""


class PartitionResult(NamedTuple):
    """The result of one partition: an AppendResult, an error, or a future.

    `partition` is None if this broker does not lead it.
    """

    partition: Partition | None
    outcome: AppendResult | KafkaError | AppendFuture


class PartitionRequest(NamedTuple):
    """One partition of a request, without the records."""

    topic: str
    partition: int
    size_bytes: int


class ProduceState:
    """The state of a Produce that is not answered yet: what its answer needs."""

    __slots__ = ("acks", "correlation_id", "timeout_ms", "version", "wanted")

    def __init__(
        self,
        version: int,
        correlation_id: int,
        acks: int,
        timeout_ms: int,
        wanted: Sequence[PartitionRecords | PartitionRequest],
    ) -> None:
        self.version = version
        self.correlation_id = correlation_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.wanted = wanted

    @classmethod
    def of(cls, header: RequestHeader, request: ProduceRequest) -> ProduceState:
        """Before anything is appended."""
        return cls(
            header.api_version, header.correlation_id, request.acks, request.timeout_ms,
            request.partitions,
        )  # fmt: skip

    def forget_records(self) -> None:
        """They are appended or copied, and the request waits: it must not hold its frame, whose
        memory is counted nowhere by then."""
        self.wanted = [
            PartitionRequest(each.topic, each.partition, each.size_bytes) for each in self.wanted
        ]

    def reserve(self, connection: Connection) -> Slot:
        """The place of its answer, which counts as what it holds."""
        return connection.output.reserve(PARTITION_BYTES * (len(self.wanted) - 1))

    def frame(self, replies: list[PartitionReply]) -> bytes:
        """The response with its length, as it goes to the client."""
        body = encode_produce_response(self.version, replies)
        return response_frame(ApiKey.PRODUCE, self.version, self.correlation_id, body)


@dataclass(frozen=True, slots=True)
class ProduceResponder:
    """What answers Produces."""

    led: LedPartitions
    purgatory: Purgatory

    def answer(
        self, connection: Connection, state: ProduceState, results: list[PartitionResult]
    ) -> None:
        """Replies, or waits for what has to be waited for."""
        if any(isinstance(each.outcome, AppendFuture) for each in results):
            AwaitAppends(self, connection, state, results)
        else:
            self.answer_appended(connection, state, results)

    def answer_appended(
        self,
        connection: Connection,
        state: ProduceState,
        results: list[PartitionResult],
        slot: Slot | None = None,
        since: Since | None = None,
    ) -> None:
        """Replies, or delays an acks=all until the high watermark has passed its records, and
        others until those are synced that flush.messages has synced.

        `slot` is where the reply goes if the next place is not its own, and `since` is given if the
        request has waited already.
        """
        replies: list[PartitionReply] = []
        behind: dict[int, tuple[Partition, int]] = {}
        for wanted, each in zip(state.wanted, results, strict=True):
            reply, last_offset = _reply(wanted, each)
            if reply.error:
                self.led.count_refusal(
                    ApiKey.PRODUCE, wanted.topic, wanted.partition, reply.error,
                    wanted.size_bytes,
                )  # fmt: skip
            if each.partition is not None and last_offset >= _mark(state.acks)(each.partition):
                behind[len(replies)] = (each.partition, last_offset)
            replies.append(reply)
        if state.acks == 0:
            _answer_by_closing(connection, replies)
        if behind and not connection.closed:
            AwaitDurable(self, connection, state, replies, slot, since).delay(behind)
            return
        if slot is not None:
            connection.deliver(slot, [state.frame(replies)])
        elif state.acks:
            connection.output.add_parts([state.frame(replies)])
        if since is not None:
            self.purgatory.times.answered(connection, since)


def _answer_by_closing(connection: Connection, replies: list[PartitionReply]) -> None:
    """With acks=0 nothing can be answered; Kafka shows that something is wrong by closing, too."""
    wrong = next((reply for reply in replies if reply.error), None)
    if wrong is not None:
        name = ErrorCode(wrong.error).name
        connection.end(f"a Produce with acks=0 failed: {name} {wrong.message}")


class AwaitAppends:
    """A request some of whose batches are still in their partitions' queues."""

    __slots__ = ("_connection", "_left", "_responder", "_results", "_since", "_slot", "_state")

    def __init__(
        self,
        responder: ProduceResponder,
        connection: Connection,
        state: ProduceState,
        results: list[PartitionResult],
    ) -> None:
        self._responder = responder
        self._connection = connection
        self._state = state
        self._results = results
        state.forget_records()
        self._slot = state.reserve(connection) if state.acks else None
        self._since = responder.purgatory.times.leaves(connection, ApiKey.PRODUCE)
        self._left = 0
        for each in results:
            if isinstance(each.outcome, AppendFuture):
                self._left += 1
                each.outcome.on_done = self._on_done

    def _on_done(self) -> None:
        self._left -= 1
        if self._left or self._connection.closed:
            return
        known = [
            PartitionResult(partition, _known(outcome)) for partition, outcome in self._results
        ]
        self._responder.answer_appended(
            self._connection, self._state, known, self._slot, self._since
        )


def _known(outcome: AppendResult | KafkaError | AppendFuture) -> AppendResult | KafkaError:
    if not isinstance(outcome, AppendFuture):
        return outcome
    assert outcome.result is not None
    return outcome.result


def _nothing() -> None:
    pass


def _mark(acks: int) -> Mark:
    """Below it records may be acknowledged."""
    return REPLICATED if acks == ACKS_ALL else SYNCED


class AwaitDurable:
    """A request whose records are appended and not yet as safe as it (or their topic) asks for:
    with acks=all on all in-sync replicas, where flush.messages says so on the disk.

    With acks=0 there is no answer, but what the client asks behind it waits for the disk as well.
    """

    __slots__ = (
        "_connection", "_leave_queue", "_replies", "_responder", "_since", "_slot", "_state",
    )  # fmt: skip
    key = ApiKey.PRODUCE

    def __init__(
        self,
        responder: ProduceResponder,
        connection: Connection,
        state: ProduceState,
        replies: list[PartitionReply],
        slot: Slot | None,
        since: Since | None,
    ) -> None:
        self._responder = responder
        self._connection = connection
        self._state = state
        self._replies = replies
        self._leave_queue: dict[int, Callable[[], None]] = {}
        state.forget_records()
        self._slot = slot or state.reserve(connection)
        self._since = since or responder.purgatory.times.leaves(connection, ApiKey.PRODUCE)

    def delay(self, behind: dict[int, tuple[Partition, int]]) -> None:
        """Answers when the records are safe, or with REQUEST_TIMED_OUT after the request's timeout.

        Kafka's timeout is for acks=all alone: where acks=1 waits for a disk it is long.
        """
        state, purgatory = self._state, self._responder.purgatory
        timeout_s = state.timeout_ms / 1000
        if state.acks != ACKS_ALL:
            timeout_s = max(timeout_s, SYNC_TIMEOUT_S)
        self._connection.produces_open += 1
        purgatory.enter(self._connection, self)
        self._leave_queue = dict.fromkeys(behind, _nothing)
        for place, (partition, last_offset) in behind.items():
            leave = purgatory.acks.add(
                partition, _mark(state.acks), last_offset, timeout_s,
                partial(self._acknowledged, place, partition),
            )  # fmt: skip
            if place in self._leave_queue:
                self._leave_queue[place] = leave

    def _acknowledged(self, place: int, partition: Partition, error: ErrorCode) -> None:
        del self._leave_queue[place]
        if error:
            reply = self._replies[place]
            led = self._responder.led
            is_offline = (partition.topic, partition.index) in led.replicas.offline
            if is_offline and error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                error = ErrorCode.KAFKA_STORAGE_ERROR
            led.count_refusal(ApiKey.PRODUCE, reply.topic, reply.partition, error)
            self._replies[place] = reply._replace(error=int(error), base_offset=-1)
        if not self._leave_queue:
            self._responder.purgatory.touch(self, partition)

    def look(self, _moved: Collection[Partition]) -> None:
        """Answers: nothing is waited for any more."""
        connection = self._connection
        if connection.closed:
            return
        self.cancel()
        try:
            answer = [self._state.frame(self._replies)] if self._state.acks else []
            connection.deliver(self._slot, answer)
            connection.produces_open -= 1
            connection.unmute_if_done()
        except Exception:
            close_unanswered(connection)
            return
        self._responder.purgatory.times.answered(connection, self._since)

    def cancel(self) -> None:
        """Ends the wait without an answer."""
        while self._leave_queue:
            self._leave_queue.popitem()[1]()
        self._responder.purgatory.leave(self._connection, self)


def _reply(
    wanted: PartitionRecords | PartitionRequest, result: PartitionResult
) -> tuple[PartitionReply, int]:
    """One partition's reply, and the last offset that it stands for (-1 for none)."""
    partition, outcome = result
    assert not isinstance(outcome, AppendFuture)
    if isinstance(outcome, KafkaError):
        error, message = outcome.code, str(outcome)
    elif outcome.error is not None:
        error, message = outcome.error, outcome.error.name
    else:
        assert partition is not None
        reply = PartitionReply(
            wanted.topic, wanted.partition, 0, outcome.base_offset, outcome.log_append_time_ms,
            partition.log_start_offset,
        )  # fmt: skip
        return reply, outcome.last_offset
    has_log_start = error in _WITH_LOG_START and not isinstance(outcome, NoBatchError)
    log_start = partition.log_start_offset if partition and has_log_start else -1
    records = outcome.records if isinstance(outcome, RefusedRecords) else ()
    return (
        PartitionReply(
            wanted.topic, wanted.partition, int(error), log_start_offset=log_start,
            message=message, record_errors=records,
        ),
        -1,
    )  # fmt: skip


def refuse_old_produce(connection: Connection, header: RequestHeader, frame: memoryview) -> None:
    """Produce 0-2 carries message formats before 0.11: the response says so for every partition."""
    try:
        request = decode_produce(frame, header.body_position, header.api_version)
    except KafkaError as error:
        connection.end(str(error))
        return
    if request.acks == 0:
        connection.end("a Produce of a version before 3 with acks=0")
        return
    replies = [
        PartitionReply(wanted.topic, wanted.partition, int(ErrorCode.UNSUPPORTED_VERSION))
        for wanted in request.partitions
    ]
    connection.output.add(ProduceState.of(header, request).frame(replies))
