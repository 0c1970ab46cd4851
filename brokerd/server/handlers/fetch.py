"""Fetch: what consumers may see, at once if it is enough, else when it is or in time.

A consumer sees up to the high watermark, one that reads committed records only up to the last
stable offset. The first partition with records answers with a whole batch even if that is larger
than allowed; the others only with what the total still has room for. What is refused is told at
once, but for partitions that the cluster does not know: others are waited for all the same, and
only where there are no others is it told at once (KafkaApis.handleFetchRequest).

What would have to come from the disk is first brought into memory by a thread (`_ColdFetch`), so
that a consumer of old records holds up nobody but itself.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from uuid import UUID

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.cold import ColdError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import (
    NO_TOPIC_ID,
    READ_COMMITTED,
    TOPIC_IDS_FROM,
    FetchPartition,
    FetchRequest,
    decode_fetch,
)
from brokerd.protocol.fetch_response import (
    LEADERS_FROM,
    Endpoint,
    FetchReply,
    encode_fetch_response,
)
from brokerd.protocol.framing import RequestHeader
from brokerd.server.handlers.fetch_leaders import with_leaders
from brokerd.server.handlers.fetch_memo import memo_of
from brokerd.server.refusals import count_refusal

if TYPE_CHECKING:
    from typing import Any

    from brokerd.log.cold import Spot
    from brokerd.log.partition_log import PartitionLog
    from brokerd.replication.partition import Partition
    from brokerd.server.broker import Broker
    from brokerd.server.fetch_sessions import Fetch
    from brokerd.server.net.connection import Connection
    from brokerd.server.net.output import Slot
    from brokerd.server.request_times import Since

logger = logging.getLogger(__name__)

COLD_ROUNDS_MAX = 4
FILES_MAX = 1_000
"""So many partitions of one Fetch have records, or have them read from the disk: each holds a file
open. The others are answered as where there is no room left."""
UNKNOWN = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
PARTITION_BYTES = 256
"""About what one partition of a Fetch that waits takes of memory."""


def serve_fetch(
    broker: Broker, connection: Connection, header: RequestHeader, frame: memoryview
) -> None:
    """Answers or parks one Fetch; KafkaError if it does not parse."""
    version = header.api_version
    request = decode_fetch(frame, header.body_position, version)
    try:
        fetch = broker.fetch_sessions.begin(
            request, version >= TOPIC_IDS_FROM, broker.clock.now_ms()
        )
    except KafkaError as error:
        connection.output.add_parts(
            encode_fetch_response(version, header.correlation_id, error.code, [])
        )
        return
    attempt = _Attempt(broker, request, fetch.partitions, patient=False)
    if attempt.cold:
        attempt.release()
        late = _LateFetch(broker, connection, header, request, fetch)
        broker.cold_reads.begin(_ColdFetch(late).serve(attempt))
    elif attempt.is_enough or request.max_wait_ms <= 0 or not attempt.partitions:
        connection.output.add_parts(_answer(broker, connection, header, fetch, attempt))
        if not attempt.failed and connection.fetch_memo is None and len(attempt.partitions) == 1:
            connection.fetch_memo = memo_of(broker, header, request, attempt.partitions[0], frame)
    else:
        attempt.release()
        late = _LateFetch(broker, connection, header, request, fetch)
        late.park(attempt, request.max_wait_ms / 1000)


def _answer(
    broker: Broker, connection: Connection, header: RequestHeader, fetch: Fetch, attempt: _Attempt
) -> list[Any]:
    """The response's parts, or the session's error."""
    version, correlation_id = header.api_version, header.correlation_id
    try:
        session_id, replies = fetch.finish(attempt.replies, broker.clock.now_ms())
    except KafkaError as error:
        attempt.release()
        return encode_fetch_response(version, correlation_id, error.code, [])
    attempt.count(broker)
    endpoints: list[Endpoint] = []
    if attempt.failed and version >= LEADERS_FROM:
        replies, endpoints = with_leaders(broker.cluster.image, connection.listener, replies)
    return encode_fetch_response(version, correlation_id, 0, replies, session_id, endpoints)


class _Attempt:
    """One try at a request: the replies, and whether they are worth sending before time is up.

    Unless it is patient, it does not wait for the disk: `cold` is then what must be read before the
    next try, and `unloaded` are the logs that are used for the first time. `unknown` are the
    replies of what the cluster does not know, which are the last ones; where the tries before have
    them, they are given, and what has become unknown since is a failure like any other.
    """

    __slots__ = (
        "_counts", "cold", "failed", "is_enough", "partitions", "replies", "unknown", "unloaded",
    )  # fmt: skip

    def __init__(
        self,
        broker: Broker,
        request: FetchRequest,
        wanted_partitions: list[FetchPartition],
        *,
        patient: bool = True,
        unknown: list[FetchReply] | None = None,
    ) -> None:
        self.cold: list[Spot] = []
        self.unloaded: list[PartitionLog] = []
        self.replies: list[FetchReply] = []
        self._counts: list[tuple[Partition, int]] = []
        self.partitions: list[Partition] = []
        self.failed = False
        self.unknown = unknown
        try:
            total = self._read_all(broker, request, wanted_partitions, patient, unknown is None)
        except BaseException:
            self.release()
            for spot in self.cold:
                spot.release()
            raise
        if self.unknown:
            self.replies += self.unknown
        self.is_enough = self.failed or total >= request.min_bytes

    def _read_all(
        self,
        broker: Broker,
        request: FetchRequest,
        wanted_partitions: list[FetchPartition],
        patient: bool,
        is_first: bool,
    ) -> int:
        """The bytes of all replies."""
        committed = request.isolation_level == READ_COMMITTED
        room = min(request.max_bytes, broker.config.fetch_max_bytes)
        total = 0
        may_be_full = len(wanted_partitions) > FILES_MAX
        for wanted in wanted_partitions:
            try:
                partition = led_partition(broker, wanted)
                self.partitions.append(partition)
                if not (patient or partition.log.is_loaded):
                    self.unloaded.append(partition.log)
                    self.cold.append(partition.log.first_use())
                    continue
                is_full = may_be_full and self._files() >= FILES_MAX
                reply = _read(
                    partition, wanted, 0 if is_full else room,
                    first=total == 0 and not is_full, committed=committed, patient=patient,
                )  # fmt: skip
            except ColdError as error:
                self.cold.append(error.spot)
                continue
            except KafkaError as error:
                self._refuse(wanted, error.code, is_first)
                continue
            if reply.records is not None:
                total += reply.records.size_bytes
                room -= reply.records.size_bytes
                self._counts.append((partition, reply.records.size_bytes))
            elif reply.diverging is not None:
                self.failed = True
            self.replies.append(reply)
        return total

    def _files(self) -> int:
        """Of so many partitions a file is open or will be read."""
        return len(self._counts) + len(self.cold) - len(self.unloaded)

    def _refuse(self, wanted: FetchPartition, error: ErrorCode, is_first: bool) -> None:
        reply = FetchReply(wanted.topic, wanted.partition, int(error), topic_id=wanted.topic_id)
        if is_first and error in UNKNOWN:
            self.unknown = self.unknown or []
            self.unknown.append(reply._replace(aborted=()))  # not null, as Kafka has it
            return
        self.failed = True
        self.replies.append(reply)

    def count(self, broker: Broker) -> None:
        """The replies are sent; they count as read or as refused."""
        for partition in self.partitions:
            partition.fetches += 1
        for partition, size_bytes in self._counts:
            partition.bytes_out += size_bytes
        if self.failed or self.unknown:
            for reply in self.replies:
                if reply.error:
                    count_refusal(broker, ApiKey.FETCH, reply.topic, reply.partition, reply.error)

    def release(self) -> None:
        """Gives the file ranges back unsent."""
        for reply in self.replies:
            if reply.records is not None:
                reply.records.release()


def led_partition(broker: Broker, wanted: FetchPartition) -> Partition:
    """The partition led here that a request means. Raises KafkaError."""
    if wanted.topic_id is NO_TOPIC_ID:
        return broker.leader_of(wanted.topic, wanted.partition, wanted.leader_epoch)
    topic_id = UUID(bytes=wanted.topic_id)
    topic = broker.cluster.image.topic_ids.get(topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID, f"no topic has the id {topic_id}")
    partition = broker.leader_of(topic, wanted.partition, wanted.leader_epoch)
    if partition.log.topic_id != topic_id:
        raise KafkaError(
            ErrorCode.INCONSISTENT_TOPIC_ID,
            f"the log of {topic}-{wanted.partition} is of another topic id than {topic_id}",
        )
    return partition


def _read(
    partition: Partition,
    wanted: FetchPartition,
    room: int,
    *,
    first: bool,
    committed: bool,
    patient: bool,
) -> FetchReply:
    log = partition.log
    offset = wanted.offset
    if not log.log_start_offset <= offset <= log.log_end_offset:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is not in {log.log_start_offset} to {log.log_end_offset}",
        )
    stable = partition.last_stable_offset
    high_watermark = partition.high_watermark  # the first use of a log may have cut it
    diverging = None
    if wanted.last_fetched_epoch >= 0:
        diverging = _diverging(partition, wanted)
    records = None
    aborted: list[tuple[int, int]] | None = [] if committed else None
    up_to = stable if committed else high_watermark
    limit = min(wanted.max_bytes, room)
    if offset < up_to and (limit > 0 or first) and diverging is None:
        records = log.read(
            offset, max(limit, 0), up_to=up_to, min_one_batch=first, patient=patient
        )
        if committed and records is not None:
            try:
                aborted = log.aborted_transactions(offset, records, up_to)
            except BaseException:
                records.release()
                raise
    return FetchReply(
        wanted.topic, wanted.partition, 0, high_watermark, stable, log.log_start_offset, records,
        wanted.topic_id, aborted, diverging,
    )  # fmt: skip


def _diverging(partition: Partition, wanted: FetchPartition) -> tuple[int, int] | None:
    """(epoch, end) where the asker's log left the leader's; None where it did not."""
    epoch, end = partition.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch < 0 or end < 0:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"leader epoch {wanted.last_fetched_epoch} is not known here",
        )
    if epoch < wanted.last_fetched_epoch or end < wanted.offset:
        return epoch, end
    return None


class _LateFetch:
    """A Fetch that is answered later; its place among the replies is kept."""

    __slots__ = (
        "_fetch", "_header", "_slot", "_unknown", "_wanted", "broker", "connection", "request",
    )  # fmt: skip

    def __init__(
        self,
        broker: Broker,
        connection: Connection,
        header: RequestHeader,
        request: FetchRequest,
        fetch: Fetch,
    ) -> None:
        self.broker = broker
        self.connection = connection
        self.request = request
        self._header = header
        self._fetch = fetch
        self._wanted = fetch.partitions
        self._unknown: list[FetchReply] | None = None
        held_bytes = PARTITION_BYTES * len(fetch.partitions)
        self._slot: Slot = connection.output.reserve(held_bytes)

    def park(self, attempt: _Attempt, timeout_s: float, since: Since | None = None) -> None:
        """Wait for min_bytes or until the time is up; what is unknown is not looked at again."""
        self._unknown = attempt.unknown or []
        if attempt.unknown:
            unknown = {(each.topic, each.topic_id, each.partition) for each in attempt.unknown}
            self._wanted = [each for each in self._wanted if each.key not in unknown]
        self.broker.parked.park(
            self.connection, attempt.partitions, timeout_s, self._check,
            lambda: self.send(self.attempt()), ApiKey.FETCH, since,
        )  # fmt: skip

    def _check(self) -> bool:
        attempt = self.attempt()
        if not attempt.is_enough:
            attempt.release()
            return False
        self.send(attempt)
        return True

    def attempt(self, *, patient: bool = True) -> _Attempt:
        return _Attempt(
            self.broker, self.request, self._wanted, patient=patient, unknown=self._unknown
        )

    def send(self, attempt: _Attempt) -> None:
        self.connection.deliver(
            self._slot, _answer(self.broker, self.connection, self._header, self._fetch, attempt)
        )


class _ColdFetch:
    """A Fetch whose records must come from the disk first.

    Each round brings in what the try before it lacked: first the indexes, then where the batch
    begins, then the records. What was brought in may be gone again by the next try, so the last one
    waits for the disk.
    """

    __slots__ = ("_late", "_since")

    def __init__(self, late: _LateFetch) -> None:
        self._late = late
        self._since = late.broker.times.leaves(late.connection, ApiKey.FETCH)

    async def serve(self, attempt: _Attempt) -> None:
        connection = self._late.connection
        try:
            await self._serve(attempt)
        except Exception:
            # Its reply would never come, nor any behind it.
            logger.exception("a fetch of cold records could not be answered")
            connection.close("an unexpected error in the broker")

    async def _serve(self, attempt: _Attempt) -> None:
        late = self._late
        time_s = asyncio.get_running_loop().time
        ends_s = time_s() + late.request.max_wait_ms / 1000
        for rounds_left in range(COLD_ROUNDS_MAX - 1, -1, -1):
            await late.broker.cold_reads.warm(attempt.cold, lambda: not late.connection.closed)
            if late.connection.closed:
                return
            await late.broker.cold_reads.load(attempt.unloaded)
            if late.connection.closed:
                return
            attempt = late.attempt(patient=rounds_left == 0)
            if not attempt.cold:
                break
            attempt.release()
        left_s = ends_s - time_s()
        if attempt.is_enough or left_s <= 0 or not attempt.partitions:
            late.send(attempt)
            late.broker.times.answered(late.connection, self._since)
        else:
            attempt.release()
            late.park(attempt, left_s, self._since)
