"""Serves Produce: all of one receive, or of an iteration of the loop, are one append per partition.

`add_run` checks the batches of requests that follow each other and collects them by partition;
`append_all` appends them, then answers in order. Most requests are the same as the one before up
to the records: same client, same topic, same partition. Such a request is recognised by its prefix
(a `ProduceMemo`, which all connections share), and its reply is packed from a template.

Batches that need work before they are appended, and all behind them, go through the partition's
queue (`append_queues`) and are answered when they come back.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from struct import Struct
from typing import Any

from brokerd.clock import Clock
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.assign_offsets import AppendResult
from brokerd.log.log_validator.validate_and_recompress import RecordWork
from brokerd.log.log_validator.validate_messages import (
    VALIDATE_ALL,
    may_validate_records,
    validate_messages,
    validate_records_if_needed,
)
from brokerd.protocol.framing import RequestHeader, parse_header
from brokerd.protocol.produce_request import PartitionRecords, ProduceRequest, decode_produce
from brokerd.protocol.records import read_header
from brokerd.replication.partition import Partition
from brokerd.server.network.connection import Connection
from brokerd.server.produce.append_queues import AppendFuture, AppendQueues
from brokerd.server.produce.check_writable import writable_partition
from brokerd.server.produce.decoded_produce_cache import MEMO_MAX_BYTES, ProduceMemo, ProduceMemos
from brokerd.server.produce.produce_metadata import (
    ACKS_ALL,
    PartitionRequest,
    PartitionResult,
    ProduceMetadata,
)
from brokerd.server.produce.produce_responder import ProduceResponder
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.purgatory import Purgatory

logger = logging.getLogger(__name__)

FIRST_USES_MAX = 32
"""If one `append_all` has more partitions than this, those whose log is not loaded yet go through
`append_queues`, which loads them over several iterations of the loop."""
_SIZE = Struct(">i")

BatchesByPartition = dict[Partition, list[memoryview]]
Outcomes = dict[Partition, list[AppendResult] | tuple[AppendFuture, ...] | KafkaError]
RecognisedRun = tuple[Connection, ProduceMemo, list[int], int]
"""Requests that were recognised: their correlation ids, and the place of the first one's batch."""
Place = KafkaError | tuple[Partition, int | KafkaError]
"""Of one partition of a request: why there is none, or the partition and either the index of its
batch among that partition's batches or why it was refused."""
ParsedRequest = tuple[Connection, ProduceMetadata, list[Place]]
"""Told from a RecognisedRun by its length: a named tuple takes three times as long to make."""


class ProduceHandler:
    """The Produces between `add_run` and `append_all`; their bytes are in the buffer."""

    __slots__ = (
        "_batches", "_clock", "_led", "_loop", "_memos", "_queues", "_responder", "_validates_all",
        "_work", "append_tick", "unappended",
    )  # fmt: skip

    def __init__(
        self,
        led: LedPartitions,
        queues: AppendQueues,
        purgatory: Purgatory,
        clock: Clock,
        validate_records: str,
    ) -> None:
        """`validate_records` is brokerd.validate.records."""
        self._led = led
        self._queues = queues
        self._responder = ProduceResponder(led, purgatory)
        self._loop = led.metrics.loop
        self._clock = clock
        self._validates_all = validate_records == VALIDATE_ALL
        self._memos = ProduceMemos()
        self._batches: BatchesByPartition = {}
        self._work: dict[Partition, dict[int, RecordWork]] = {}
        self.unappended: list[Any] = []  # of each: RecognisedRun or ParsedRequest
        self.append_tick: Callable[[], None] = self.append_all
        """`append_all`, and the tick notes whose replies are ready (`LoopTick.append_tick`)."""

    def add_run(
        self, connection: Connection, buffer: bytearray, view: memoryview, position: int, end: int
    ) -> tuple[int, int]:
        """Takes in the Produce at `position` and those behind it that begin like it; returns the
        position behind the last, and their number."""
        memo: Any = connection.produce_memo
        while memo is not None and memo.generation == memo.partition.generation:
            if memo.checks_records:
                self._append_others_first(connection)  # its records may need work
            batches = self._batches.get(memo.partition)
            first = len(batches) if batches else 0
            found: list[memoryview] = batches or []
            if memo.checks_records:
                behind, ids = self._take_and_validate_records(memo, buffer, view, position, found)
            else:
                behind, ids = memo.take(buffer, view, position, end, found)
            if ids:
                self.unappended.append((connection, memo, ids, first))
                if not first:
                    self._batches[memo.partition] = found
                return behind, len(ids)
            known = self._memos.find(memo, buffer, position, end)
            if known is memo:
                break
            if known is not None:
                connection.produce_memo = known
            memo = known
        self._append_others_first(connection)
        (size,) = _SIZE.unpack_from(buffer, position)
        frame_end = position + 4 + size
        self._add_parsed(connection, view[position + 4 : frame_end])
        return frame_end, 1

    @property
    def can_share_append(self) -> bool:
        """Whether none needs work in a thread, or waits behind such work."""
        return not (self._work or self._queues.by_partition)

    def _append_others_first(self, connection: Connection) -> None:
        """Only recognised requests share an append with other clients: one that goes through a
        queue must delay the client that sent it, and no other."""
        if self.unappended and self.unappended[0][0] is not connection:
            self.append_tick()

    def _take_and_validate_records(
        self,
        memo: ProduceMemo,
        buffer: bytearray,
        view: memoryview,
        position: int,
        batches: list[memoryview],
    ) -> tuple[int, list[int]]:
        """One frame, of which the records must be checked as well."""
        (size,) = _SIZE.unpack_from(buffer, position)
        behind, ids = memo.take(buffer, view, position, position + 4 + size, batches)
        if not ids:
            return behind, ids
        partition = memo.partition
        records = batches[-1]
        try:
            work = validate_records_if_needed(
                read_header(records), records, self._validates_all, partition.log.config,
                memo.topic_partition, self._clock.now_ms(),
            )  # fmt: skip
        except KafkaError:  # `_add_parsed` answers it
            batches.pop()
            return position, []
        if work is not None:
            self._work.setdefault(partition, {})[len(batches) - 1] = work
        return behind, ids

    def _add_parsed(self, connection: Connection, frame: memoryview) -> None:
        try:
            header = parse_header(frame)
            request = decode_produce(frame, header.body_position, header.api_version)
        except KafkaError as error:
            self.append_tick()
            connection.end(str(error))
            return
        connection.last_header = header
        if len(request.partitions) > 1:
            request = _without_repeats(request)
        places = [self._place(request, wanted, header) for wanted in request.partitions]
        self.unappended.append((connection, ProduceMetadata.of(header, request), places))
        if 0 <= request.prefix_end <= MEMO_MAX_BYTES and isinstance(places[0], tuple):
            partition = places[0][0]
            connection.produce_memo = memo = ProduceMemo(
                bytes(frame[8 : request.prefix_end]), header.api_version, request, partition,
                may_validate_records(self._validates_all, partition.log.config),
            )  # fmt: skip
            self._memos.add(memo, frame)

    def _place(
        self, request: ProduceRequest, wanted: PartitionRecords, header: RequestHeader
    ) -> Place:
        try:
            partition = writable_partition(self._led, request, wanted, header)
        except KafkaError as error:
            return error.without_frames()
        assert wanted.records is not None
        try:
            work = validate_messages(
                wanted.records, header.api_version, self._validates_all, partition.log.config,
                f"{wanted.topic}-{wanted.partition}", self._clock.now_ms(),
            )  # fmt: skip
        except KafkaError as error:
            return partition, error.without_frames()
        batches = self._batches.setdefault(partition, [])
        if work is not None:
            self._work.setdefault(partition, {})[len(batches)] = work
        batches.append(wanted.records)
        return partition, len(batches) - 1

    def discard(self) -> None:
        """Drops what was taken in: its buffers are about to be used again."""
        self.unappended, self._batches, self._work = [], {}, {}

    def append_all(self) -> None:
        """Appends the collected batches, and answers the requests in order."""
        waiting = self.unappended
        if not waiting:
            return
        self._loop.produced_s = self._loop.woke_s
        pending, work = self._batches, self._work
        self.unappended, self._batches = [], {}
        if work:
            self._work = {}
        queues = self._queues
        now_ms = self._clock.now_ms()
        outcomes: Outcomes = {}
        at_once = pending
        if len(pending) > FIRST_USES_MAX:
            outcomes = self._put_off_first_uses(waiting, pending, work)
            at_once = {each: pending[each] for each in pending if each not in outcomes}
        for partition, batches in at_once.items():
            if work or queues.by_partition:
                todo = work.get(partition)
                if todo or partition in queues.by_partition:
                    sender = waiting[0][0]  # of all: see _append_others_first and can_share_append
                    outcomes[partition] = queues.add(sender, partition, batches, todo or {})
                    continue
            try:
                outcomes[partition] = partition.append(batches, now_ms)
            except KafkaError as error:
                outcomes[partition] = error.without_frames()
            except Exception:
                logger.exception("append to %s-%d failed", partition.topic, partition.index)
                outcomes[partition] = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        for each in waiting:
            if not each[0].closed:
                self._answer(each, pending, outcomes)

    def _put_off_first_uses(
        self,
        waiting: list[Any],
        pending: BatchesByPartition,
        work: dict[Partition, dict[int, RecordWork]],
    ) -> Outcomes:
        """Queues what one client sent for logs that are used for the first time."""
        sender = waiting[0][0]
        if any(each[0] is not sender for each in waiting):
            return {}
        return {
            each: self._queues.add(sender, each, batches, work.get(each) or {}, needs_load=True)
            for each, batches in pending.items()
            if not each.log.is_prepared
        }

    def _answer(
        self, each: RecognisedRun | ParsedRequest, pending: BatchesByPartition, outcomes: Outcomes
    ) -> None:
        connection = each[0]
        try:
            if len(each) == 4:
                self._answer_recognised(*each, pending, outcomes)
            else:
                self._answer_parsed(*each, outcomes)
        except Exception:  # the other clients get their answers
            logger.exception("a Produce of %s could not be answered", connection.peer_host)
            connection.close("an unexpected error in the broker")

    def _answer_recognised(
        self,
        connection: Connection,
        memo: ProduceMemo,
        ids: list[int],
        first: int,
        pending: BatchesByPartition,
        outcomes: Outcomes,
    ) -> None:
        partition = memo.partition
        outcome: Any = outcomes[partition]
        if type(outcome) is not list:
            for index, correlation_id in enumerate(ids, first):
                parsed = _as_parsed(memo, correlation_id, pending, index)
                self._answer_parsed(connection, *parsed, outcomes)
            return
        acks = memo.acks
        pack = memo.template.frame
        log_start = partition.log.log_start_offset
        # without flush.messages `synced_to` is NO_LIMIT
        reached = partition.high_watermark if acks == ACKS_ALL else partition.synced_to
        frames: list[bytes] = []
        for index, correlation_id in enumerate(ids, first):
            base_offset, last_offset, append_time_ms, error, _ = outcome[index]
            if error is None and reached > last_offset:
                frames.append(pack(correlation_id, base_offset, append_time_ms, log_start))
                continue
            if frames and acks:
                connection.output.add_uncounted(b"".join(frames))
            frames = []
            self._answer_parsed(
                connection, *_as_parsed(memo, correlation_id, pending, index), outcomes
            )
        if frames and acks:
            connection.output.add_uncounted(b"".join(frames))

    def _answer_parsed(
        self,
        connection: Connection,
        state: ProduceMetadata,
        places: list[Place],
        outcomes: Outcomes,
    ) -> None:
        if not connection.closed:
            results = [_result_of(place, outcomes) for place in places]
            self._responder.answer(connection, state, results)


def _without_repeats(request: ProduceRequest) -> ProduceRequest:
    """If a partition is named twice, the last records count, as in Kafka."""
    last = {(each.topic, each.partition): each for each in request.partitions}
    return replace(request, partitions=list(last.values()))


def _as_parsed(
    memo: ProduceMemo, correlation_id: int, pending: BatchesByPartition, index: int
) -> tuple[ProduceMetadata, list[Place]]:
    """A recognised request as a ParsedRequest has it, without the connection."""
    partition = memo.partition
    wanted = [PartitionRequest(memo.topic, partition.index, len(pending[partition][index]))]
    state = ProduceMetadata(memo.version, correlation_id, memo.acks, memo.timeout_ms, wanted)
    return state, [(partition, index)]


def _result_of(place: Place, outcomes: Outcomes) -> PartitionResult:
    if isinstance(place, KafkaError):
        return PartitionResult(None, place)
    partition, index = place
    if isinstance(index, KafkaError):
        return PartitionResult(partition, index)
    outcome: Any = outcomes[partition]
    return PartitionResult(
        partition, outcome if isinstance(outcome, KafkaError) else outcome[index]
    )
