"""The steps of one Fetch, from its request to its answer (Kafka's ReplicaManager.fetchMessages):
reads (`read_from_log`), waits, the response. It is answered at once, or after a wait in the
purgatory.

It waits for threads that read from the disk, for min_bytes or until max_wait_ms is over. One with
many partitions is read and encoded in several iterations of the event loop, or by a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeVar

from brokerd.cluster.metadata_image import MetadataImage
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import Steps, in_thread, in_turns, run_steps
from brokerd.garbage_collection import uncollected
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import FetchPartition, FetchRequest
from brokerd.protocol.fetch_response import (
    LEADERS_FROM,
    Endpoint,
    FetchReply,
    encode_fetch_response,
)
from brokerd.protocol.framing import RequestHeader
from brokerd.replication.partition import Partition
from brokerd.replication.partition_state import NO_LEADER
from brokerd.server.background.pending_reads import load_log
from brokerd.server.fetch.delayed_fetch import MinBytesTracker, delay_fetch
from brokerd.server.fetch.fetch_session import Session
from brokerd.server.fetch.fetch_session_cache import FetchContext
from brokerd.server.fetch.read_from_log import FetchAttempt
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import Parts, Slot
from brokerd.server.requests.request_times import Since

if TYPE_CHECKING:
    from brokerd.server.fetch.fetch_handler import FetchHandler

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
READ_ROUNDS_MAX = 4
AT_ONCE_MAX: Final = 1_000
"""A Fetch of more partitions than this, which take a few milliseconds, is served in turns."""
SLICE = 100
PARTITION_BYTES = 256
"""About what one partition of a Fetch that waits takes of memory."""
_REPLY_KEY = itemgetter(*map(FetchReply._fields.index, ("topic", "topic_id", "partition")))


class ServedFetch:
    """See the module. Each round of reads loads what the attempt before did not find in memory: the
    indexes, then the header of the batch, then the records. Loaded pages may leave the memory
    before the next attempt, so the last attempt reads from the disk itself."""

    __slots__ = (
        "_connection", "_ends_s", "_fetch", "_handler", "_header", "_request", "_since", "_slot",
        "_tracker", "_unknown", "answered_alone",
    )  # fmt: skip

    def __init__(
        self,
        handler: FetchHandler,
        connection: Connection,
        header: RequestHeader,
        request: FetchRequest,
        fetch: FetchContext,
        slot: Slot | None = None,
        since: Since | None = None,
    ) -> None:
        """`slot` and `since` are those of a request that has waited already."""
        self._handler = handler
        self._connection = connection
        self._header = header
        self._request = request
        self._fetch = fetch
        # of the partitions unknown at the first attempt, not read again; None until it has ended
        self._unknown: list[FetchReply] | None = None
        self._tracker: MinBytesTracker | None = None
        self._ends_s = monotonic() + request.max_wait_ms / 1000
        self._since = since
        self._slot = slot
        self.answered_alone: Partition | None = None
        """The partition, if there is one alone and it was answered without a wait or an error."""

    def serve(self) -> None:
        """Answers the Fetch, or goes on later."""
        run_steps(self.steps(), self._handler.pending_reads.begin)

    def steps(self) -> Steps[None]:
        try:
            wanted = self._fetch.next_partitions()
            if len(wanted) + len(self._unknown or ()) > AT_ONCE_MAX:
                self._leave_receive(len(wanted))
                with uncollected():
                    yield from self._serve(wanted)
            else:
                yield from self._serve(wanted)
        except Exception:
            # Without this reply none behind it could be sent.
            logger.exception("a fetch could not be answered")
            self._connection.close("an unexpected error in the broker")

    def _leave_receive(self, count: int) -> None:
        """The answer, of so many partitions, comes later: reserves its slot."""
        if self._slot is None:
            connection = self._connection
            self._since = self._handler.purgatory.times.begin_wait(connection, ApiKey.FETCH)
            self._slot = connection.output.reserve(PARTITION_BYTES * count)

    def _serve(self, wanted: list[FetchPartition]) -> Steps[None]:
        """`wanted` are the partitions to read in the first attempt."""
        connection, handler = self._connection, self._handler
        pending_reads = handler.pending_reads
        had_pending_reads = False
        reads = 0
        while True:
            begun_s = monotonic()
            attempt = FetchAttempt(
                handler.led, handler.max_bytes, self._request, self._fetch,
                may_block=reads == READ_ROUNDS_MAX, unknown=self._unknown,
            )  # fmt: skip
            if len(wanted) <= AT_ONCE_MAX:
                attempt.read(wanted)
            else:
                yield from _read_in_turns(attempt, wanted)
            attempt.end()
            if connection.closed:
                attempt.give_up()
                return
            if attempt.pending_reads:
                attempt.release()
                self._leave_receive(len(attempt.partitions) + len(attempt.unknown or ()))
                pending_reads.requests += not had_pending_reads
                had_pending_reads = True
                # True if it loaded its own reads, not only waited for another request's
                reads += yield pending_reads.load_for(
                    connection, attempt.pending_reads, lambda: not connection.closed
                )
                if not connection.closed:
                    yield in_turns(attempt.unloaded, load_log)
            elif attempt.is_enough or self._ends_s <= monotonic() or not self._has_any(attempt):
                yield from self._send(attempt)
                return
            # without a slot it is still in its receive: nothing has moved since the attempt
            elif self._slot is None or not (self._fetch.has_more_dirty or attempt.has_moved):
                self._delay(attempt, self._ends_s - monotonic())
                return
            else:  # partitions with many appends move again at once: do not try without pause
                attempt.release()
                yield asyncio.sleep(min(monotonic() - begun_s, self._ends_s - monotonic()))
            wanted = self._fetch.next_partitions()

    def _has_any(self, attempt: FetchAttempt) -> bool:
        """Whether there is a partition to wait for."""
        return bool(attempt.partitions) or self._fetch.has_clean

    def _delay(self, attempt: FetchAttempt, timeout_s: float) -> None:
        """Waits for min_bytes or until the time is over; unknown partitions are not read again."""
        attempt.release()
        fetch = self._fetch
        self._leave_receive(len(attempt.partitions) + len(attempt.unknown or ()))
        fetch.keep_names(attempt.names)
        if self._unknown is None:
            self._unknown = attempt.unknown or []
            fetch.leave_out(set(map(_REPLY_KEY, self._unknown)))
        waits_on: Collection[Partition | Session] = attempt.partitions
        if attempt.min_bytes > 1:
            self._tracker = MinBytesTracker(self._handler.led, self._request, fetch, attempt)
        if fetch.session is not None:
            waits_on = (fetch.session,)
        purgatory = self._handler.purgatory
        delay_fetch(
            purgatory, self._connection, waits_on, timeout_s, self._may_be_enough, self.serve
        )

    def _may_be_enough(self, moved: Collection[Partition]) -> bool:
        return self._tracker is None or self._tracker.is_worth_an_attempt(moved)

    def _send(self, attempt: FetchAttempt) -> Steps[None]:
        try:
            session_id = self._fetch.session_id_to_answer(self._handler.clock.now_ms())
            if len(attempt.replies) <= AT_ONCE_MAX:
                replies = self._to_send(attempt, attempt.replies)
            else:
                replies = []
                yield in_turns(
                    _slices(attempt.replies),
                    lambda some: replies.extend(self._to_send(attempt, some)),
                )
            attempt.count_read()
            header = self._header
            endpoints: Sequence[Endpoint] = ()
            if attempt.failed:
                image, listener = self._handler.led.image, self._connection.listener
                endpoints = _endpoints_of(image, listener, replies)
            response = header.api_version, header.correlation_id, 0, replies, session_id, endpoints
            if len(replies) <= AT_ONCE_MAX:
                parts = encode_fetch_response(*response)
            else:
                parts = yield in_thread(encode_fetch_response, *response)
        except KafkaError as error:  # the session has served another request meanwhile
            attempt.release()
            parts = refusal(self._header, error)
        except BaseException:
            attempt.release()
            raise
        self._deliver(parts)
        if self._slot is None and len(attempt.partitions) == 1 and not attempt.failed:
            (self.answered_alone,) = attempt.partitions

    def _to_send(self, attempt: FetchAttempt, some: list[FetchReply]) -> list[FetchReply]:
        """Those that are sent, without what a session leaves out; counts the errors of all."""
        changed = self._fetch.take_answers(some)
        attempt.count_refused(some)
        if attempt.failed and self._header.api_version >= LEADERS_FROM:
            return [_with_leader(self._handler.led.image, each) for each in changed]
        return changed

    def _deliver(self, parts: Parts) -> None:
        if self._slot is None:
            self._connection.output.add_parts(parts)
            return
        self._connection.deliver(self._slot, parts)
        if self._since is not None:
            self._handler.purgatory.times.answered(self._connection, self._since)


def refusal(header: RequestHeader, error: KafkaError) -> Parts:
    """The parts of a response that has no partitions but the session's error."""
    return encode_fetch_response(header.api_version, header.correlation_id, error.code, [])


def _endpoints_of(
    image: MetadataImage, listener: str, replies: Iterable[FetchReply]
) -> list[Endpoint]:
    found = []
    for leader in dict.fromkeys(reply.leader[0] for reply in replies if reply.leader):
        endpoint = image.endpoint(leader, listener)
        if endpoint is not None:
            found.append(Endpoint(leader, *endpoint, image.brokers[leader].rack))
    return found


def _with_leader(image: MetadataImage, reply: FetchReply) -> FetchReply:
    """The reply with the partition's current leader, so that clients find it (KIP-951)."""
    if reply.error not in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
        return reply
    topic = image.names_by_id.get(reply.topic_id)
    state = image.partition(topic, reply.partition) if topic is not None else None
    if state is None or state.leader == NO_LEADER:
        return reply
    return reply._replace(leader=(state.leader, state.leader_epoch))


def _read_in_turns(attempt: FetchAttempt, wanted: list[FetchPartition]) -> Steps[None]:
    try:
        yield in_turns(_slices(wanted), attempt.read)
    except BaseException:  # cancelled between two slices, where `read` cannot release
        attempt.give_up()
        raise


def _slices(items: list[Item]) -> Iterator[list[Item]]:
    for start in range(0, len(items), SLICE):
        yield items[start : start + SLICE]
