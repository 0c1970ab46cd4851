"""Fetch: what consumers may see, at once if it is enough, else when it is or in time.

A consumer sees up to the high watermark, one that reads committed records only up to the last
stable offset. The first partition with records answers with a whole batch even if that is larger
than allowed; the others only with what the total still has room for.

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
from brokerd.replication.state import NO_LEADER
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
        late.park(attempt.partitions, request.max_wait_ms / 1000)


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
    attempt.count()
    endpoints: list[Endpoint] = []
    if attempt.failed and version >= LEADERS_FROM:
        replies = [_with_leader(broker, reply) for reply in replies]
        endpoints = _endpoints(broker, connection.listener, replies)
    return encode_fetch_response(version, correlation_id, 0, replies, session_id, endpoints)


def _with_leader(broker: Broker, reply: FetchReply) -> FetchReply:
    """A refusal that a client can act on with the leader that is known here (KIP-951)."""
    if reply.error not in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
        return reply
    image = broker.cluster.image
    topic = image.topic_ids.get(UUID(bytes=reply.topic_id))
    state = image.partition(topic, reply.partition) if topic is not None else None
    if state is None or state.leader == NO_LEADER:
        return reply
    return reply._replace(leader=(state.leader, state.leader_epoch))


def _endpoints(broker: Broker, listener: str, replies: list[FetchReply]) -> list[Endpoint]:
    image = broker.cluster.image
    found = []
    for leader in dict.fromkeys(reply.leader[0] for reply in replies if reply.leader):
        endpoint = image.endpoint(leader, listener)
        if endpoint is not None:
            found.append(Endpoint(leader, *endpoint, image.brokers[leader].rack))
    return found


class _Attempt:
    """One try at a request: the replies, and whether they are worth sending before time is up.

    Unless it is patient, it does not wait for the disk: `cold` is then what must be read before the
    next try, and `unloaded` are the logs that are used for the first time.
    """

    __slots__ = ("_counts", "cold", "failed", "is_enough", "partitions", "replies", "unloaded")

    def __init__(
        self,
        broker: Broker,
        request: FetchRequest,
        wanted_partitions: list[FetchPartition],
        *,
        patient: bool = True,
    ) -> None:
        self.cold: list[Spot] = []
        self.unloaded: list[PartitionLog] = []
        self.replies: list[FetchReply] = []
        self._counts: list[tuple[Partition, int]] = []
        self.partitions: list[Partition] = []
        self.failed = False
        try:
            total = self._read_all(broker, request, wanted_partitions, patient)
        except BaseException:
            self.release()
            for spot in self.cold:
                spot.release()
            raise
        self.is_enough = self.failed or total >= request.min_bytes

    def _read_all(
        self,
        broker: Broker,
        request: FetchRequest,
        wanted_partitions: list[FetchPartition],
        patient: bool,
    ) -> int:
        """The bytes of all replies."""
        committed = request.isolation_level == READ_COMMITTED
        room = min(request.max_bytes, broker.config.fetch_max_bytes)
        total = 0
        for wanted in wanted_partitions:
            try:
                partition = led_partition(broker, wanted)
                self.partitions.append(partition)
                if not (patient or partition.log.is_loaded):
                    self.unloaded.append(partition.log)
                    self.cold.append(partition.log.first_use())
                    continue
                is_full = len(self._counts) + len(self.cold) - len(self.unloaded) >= FILES_MAX
                reply = _read(
                    partition, wanted, 0 if is_full else room,
                    first=total == 0 and not is_full, committed=committed, patient=patient,
                )  # fmt: skip
            except ColdError as error:
                self.cold.append(error.spot)
                continue
            except KafkaError as error:
                self._refuse(broker, wanted, error.code)
                continue
            if reply.records is not None:
                total += reply.records.size_bytes
                room -= reply.records.size_bytes
                self._counts.append((partition, reply.records.size_bytes))
            elif reply.diverging is not None:
                self.failed = True
            self.replies.append(reply)
        return total

    def _refuse(self, broker: Broker, wanted: FetchPartition, error: ErrorCode) -> None:
        self.failed = True
        count_refusal(broker, ApiKey.FETCH, wanted.topic, wanted.partition, error)
        self.replies.append(
            FetchReply(wanted.topic, wanted.partition, int(error), topic_id=wanted.topic_id)
        )

    def count(self) -> None:
        """The replies are sent; they count as read."""
        for partition in self.partitions:
            partition.fetches += 1
        for partition, size_bytes in self._counts:
            partition.bytes_out += size_bytes

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

    __slots__ = ("_fetch", "_header", "_slot", "broker", "connection", "request")

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
        held_bytes = PARTITION_BYTES * len(fetch.partitions)
        self._slot: Slot = connection.output.reserve(held_bytes)

    def park(
        self, partitions: list[Partition], timeout_s: float, since: Since | None = None
    ) -> None:
        """Wait for min_bytes or until the time is up."""
        self.broker.parked.park(
            self.connection, partitions, timeout_s, self._check,
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
        return _Attempt(self.broker, self.request, self._fetch.partitions, patient=patient)

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
            late.park(attempt.partitions, left_s, self._since)
