"""Serves Fetch: at once if min_bytes are there, else by a `DelayedFetch`.

A consumer reads up to the high watermark; with isolation_level=read_committed, up to the last
stable offset. The first partition with records gives a whole batch, even if it is larger than
max_bytes; the others give what still fits. An error of a partition is answered at once. A partition
that the cluster does not know is answered at once only if the request has no other partition
(KafkaApis.handleFetchRequest).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokerd.errors import KafkaError
from brokerd.protocol.fetch_request import TOPIC_IDS_FROM, FetchRequest, decode_fetch
from brokerd.protocol.fetch_response import (
    LEADERS_FROM,
    FetchReply,
    encode_fetch_response,
)
from brokerd.protocol.framing import RequestHeader
from brokerd.server.fetch.current_leaders import endpoints_of, with_leader
from brokerd.server.fetch.delayed_fetch import AT_ONCE_MAX, DelayedFetch, slices
from brokerd.server.fetch.fetch_attempt import FetchAttempt
from brokerd.server.fetch.memo import memo_of
from brokerd.turns import in_thread, in_turns

if TYPE_CHECKING:
    from typing import Any

    from brokerd.clock import Clock
    from brokerd.server.background.pending_reads import PendingReads
    from brokerd.server.fetch.sessions import FetchContext, FetchSessions
    from brokerd.server.network.connection import Connection
    from brokerd.server.network.output import Slot
    from brokerd.server.requests.delayed_operations import Purgatory
    from brokerd.server.requests.led_partitions import LedPartitions
    from brokerd.server.requests.request_times import Since


@dataclass(frozen=True, slots=True)
class FetchHandler:
    """See the module. `max_bytes` is fetch.max.bytes."""

    led: LedPartitions
    sessions: FetchSessions
    clock: Clock
    pending_reads: PendingReads
    purgatory: Purgatory
    max_bytes: int

    def serve(self, connection: Connection, header: RequestHeader, frame: memoryview) -> None:
        """Answers or delays one Fetch; KafkaError if it does not parse."""
        request = decode_fetch(frame, header.body_position, header.api_version)
        try:
            fetch = self._begin(header, request)
        except KafkaError as error:
            connection.output.add_parts(_refusal(header, error))
            return
        if len(fetch.partitions) > AT_ONCE_MAX:
            delayed = DelayedFetch(self, connection, header, request, fetch)
            self.pending_reads.begin(delayed.serve())
            return
        attempt = FetchAttempt(self.led, self.max_bytes, request, fetch, may_block=False)
        attempt.read(fetch.partitions)
        attempt.end()
        if attempt.pending_reads:
            delayed = DelayedFetch(self, connection, header, request, fetch)
            self.pending_reads.begin(delayed.serve(attempt))
        elif attempt.is_enough or request.max_wait_ms <= 0 or not attempt.partitions:
            connection.output.add_parts(self.answer(connection, header, fetch, attempt))
            partitions = attempt.partitions
            if not attempt.failed and connection.fetch_memo is None and len(partitions) == 1:
                memo = memo_of(self.max_bytes, header, request, partitions[0], frame)
                connection.fetch_memo = memo
        else:
            delayed = DelayedFetch(self, connection, header, request, fetch)
            delayed.delay(attempt, request.max_wait_ms / 1000)

    async def serve_large(
        self,
        connection: Connection,
        header: RequestHeader,
        request: FetchRequest,
        slot: Slot,
        since: Since,
    ) -> None:
        """As `serve`, for a request that a thread has decoded; its slot is reserved."""
        try:
            fetch = self._begin(header, request)
        except KafkaError as error:
            connection.deliver(slot, _refusal(header, error))
            self.purgatory.times.answered(connection, since)
            return
        await DelayedFetch(self, connection, header, request, fetch, slot, since).serve()

    def _begin(self, header: RequestHeader, request: FetchRequest) -> FetchContext:
        uses_topic_ids = header.api_version >= TOPIC_IDS_FROM
        return self.sessions.begin(request, uses_topic_ids, self.clock.now_ms())

    def answer(
        self,
        connection: Connection,
        header: RequestHeader,
        fetch: FetchContext,
        attempt: FetchAttempt,
    ) -> list[Any]:
        """The parts of the response, or of one with the session's error."""
        version = header.api_version
        try:
            session_id = fetch.settle(self.clock.now_ms())
            replies = self._to_send(version, fetch, attempt, attempt.replies)
        except KafkaError as error:
            attempt.release()
            return _refusal(header, error)
        attempt.count_read()
        named = replies if attempt.failed else ()
        endpoints = endpoints_of(self.led.image, connection.listener, named)
        return encode_fetch_response(
            version, header.correlation_id, 0, replies, session_id, endpoints
        )

    async def answer_in_turns(
        self,
        connection: Connection,
        header: RequestHeader,
        fetch: FetchContext,
        attempt: FetchAttempt,
    ) -> list[Any]:
        """As `answer`, for many partitions."""
        version = header.api_version
        replies: list[FetchReply] = []

        def add(some: list[FetchReply]) -> None:
            replies.extend(self._to_send(version, fetch, attempt, some))

        try:
            session_id = fetch.settle(self.clock.now_ms())
            await in_turns(slices(attempt.replies), add)
        except KafkaError as error:
            attempt.release()
            return _refusal(header, error)
        attempt.count_read()
        named = replies if attempt.failed else ()
        endpoints = endpoints_of(self.led.image, connection.listener, named)
        return await in_thread(
            encode_fetch_response, version, header.correlation_id, 0, replies, session_id, endpoints
        )

    def _to_send(
        self, version: int, fetch: FetchContext, attempt: FetchAttempt, some: list[FetchReply]
    ) -> list[FetchReply]:
        """Those of some replies that are sent, without those that a session leaves out; errors of
        all are counted."""
        changed = fetch.changed(some)
        attempt.count_refused(some)
        if attempt.failed and version >= LEADERS_FROM:
            return [with_leader(self.led.image, each) for each in changed]
        return changed


def _refusal(header: RequestHeader, error: KafkaError) -> list[Any]:
    return encode_fetch_response(header.api_version, header.correlation_id, error.code, [])
