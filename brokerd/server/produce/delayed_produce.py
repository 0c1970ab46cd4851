"""Produces that are not answered at once: some of their batches are still in a queue, or their
records are not yet on all in-sync replicas or, with flush.messages, on the disk."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.assign_offsets import AppendResult
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.produce_response import PartitionReply
from brokerd.replication.partition import Partition
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import Slot
from brokerd.server.produce.append_queues import AppendFuture
from brokerd.server.produce.produce_metadata import ACKS_ALL, PartitionResult, ProduceMetadata
from brokerd.server.requests.ack_watchers import REPLICATED, SYNCED, Mark
from brokerd.server.requests.purgatory import close_unanswered
from brokerd.server.requests.request_times import Since

if TYPE_CHECKING:
    from brokerd.server.produce.produce_responder import ProduceResponder

SYNC_TIMEOUT_S = 60.0


class AwaitAppends:
    """A request some of whose batches are still in their partitions' queues."""

    __slots__ = (
        "_appends_open", "_connection", "_responder", "_results", "_since", "_slot", "_state",
    )  # fmt: skip

    def __init__(
        self,
        responder: ProduceResponder,
        connection: Connection,
        state: ProduceMetadata,
        results: list[PartitionResult],
    ) -> None:
        self._responder = responder
        self._connection = connection
        self._state = state
        self._results = results
        state.forget_records()
        self._slot = state.reserve(connection) if state.acks else None
        self._since = responder.purgatory.times.begin_wait(connection, ApiKey.PRODUCE)
        self._appends_open = 0
        for each in results:
            if isinstance(each.outcome, AppendFuture):
                self._appends_open += 1
                each.outcome.on_done = self._on_done

    def _on_done(self) -> None:
        self._appends_open -= 1
        if self._appends_open or self._connection.closed:
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


def mark_of(acks: int) -> Mark:
    """The mark below which records may be acknowledged."""
    return REPLICATED if acks == ACKS_ALL else SYNCED


class DelayedProduce:
    """A request whose records are appended and not yet as safe as asked for: with acks=all on all
    in-sync replicas, where flush.messages says so on the disk. With acks=0 nothing is answered, but
    what the client asks next waits for the disk as well."""

    __slots__ = (
        "_connection", "_leave_queue", "_replies", "_responder", "_since", "_slot", "_state",
    )  # fmt: skip
    key = ApiKey.PRODUCE

    def __init__(
        self,
        responder: ProduceResponder,
        connection: Connection,
        state: ProduceMetadata,
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
        self._since = since or responder.purgatory.times.begin_wait(connection, ApiKey.PRODUCE)

    def delay(self, behind: dict[int, tuple[Partition, int]]) -> None:
        """Answers when the records are safe, or with REQUEST_TIMED_OUT after the request's timeout;
        where acks=1 waits for a disk that is long."""
        state, purgatory = self._state, self._responder.purgatory
        timeout_s = state.timeout_ms / 1000
        if state.acks != ACKS_ALL:
            timeout_s = max(timeout_s, SYNC_TIMEOUT_S)
        self._connection.produces_open += 1
        purgatory.enter(self._connection, self)
        self._leave_queue = dict.fromkeys(behind, _nothing)
        for place, (partition, last_offset) in behind.items():
            leave = purgatory.acks.add(
                partition, mark_of(state.acks), last_offset, timeout_s,
                partial(self._acknowledged, place, partition),
            )  # fmt: skip
            if place in self._leave_queue:  # else `add` has acknowledged it at once
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
            self._responder.purgatory.check_later(self, partition)

    def try_complete(self, _moved: Collection[Partition]) -> None:
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
