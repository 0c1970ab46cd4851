"""Answers of Produces that are not simply repeats: several partitions, refusals, records that are
still in a queue, records that are not yet on all in-sync replicas or, with flush.messages, on the
disk."""

from dataclasses import dataclass

from brokerd.errors import ErrorCode, InvalidProduceRecordsError, KafkaError
from brokerd.log.log_validator.validate_records import RefusedRecords
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.framing import RequestHeader
from brokerd.protocol.produce_request import PartitionRecords, decode_produce
from brokerd.protocol.produce_response import PartitionReply
from brokerd.replication.partition import Partition
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import Slot
from brokerd.server.produce.append_queues import AppendFuture
from brokerd.server.produce.delayed_produce import AwaitAppends, DelayedProduce, mark_of
from brokerd.server.produce.produce_metadata import (
    PartitionRequest,
    PartitionResult,
    ProduceMetadata,
)
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import Since

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


@dataclass(frozen=True, slots=True)
class ProduceResponder:
    led: LedPartitions
    purgatory: Purgatory

    def answer(
        self, connection: Connection, state: ProduceMetadata, results: list[PartitionResult]
    ) -> None:
        """Replies, or waits for what has to be waited for."""
        if any(isinstance(each.outcome, AppendFuture) for each in results):
            AwaitAppends(self, connection, state, results)
        else:
            self.answer_appended(connection, state, results)

    def answer_appended(
        self,
        connection: Connection,
        state: ProduceMetadata,
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
            if each.partition is not None and last_offset >= mark_of(state.acks)(each.partition):
                behind[len(replies)] = (each.partition, last_offset)
            replies.append(reply)
        if state.acks == 0:
            _answer_by_closing(connection, replies)
        if behind and not connection.closed:
            DelayedProduce(self, connection, state, replies, slot, since).delay(behind)
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
            partition.log.log_start_offset,
        )  # fmt: skip
        return reply, outcome.last_offset
    has_log_start = error in _WITH_LOG_START and not isinstance(outcome, InvalidProduceRecordsError)
    log_start = partition.log.log_start_offset if partition and has_log_start else -1
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
    connection.output.add_uncounted(ProduceMetadata.of(header, request).frame(replies))
