"""Serves Fetch: each request is a `ServedFetch`, except those that repeat an earlier one
(`decoded_fetch_cache.py`).

A consumer reads up to the high watermark; with isolation_level=read_committed, up to the last
stable offset. The first partition with records gives a whole batch, even if it is larger than
max_bytes; the others give what still fits. An error of a partition is answered at once, but that of
an unknown one only if there is no other partition (KafkaApis.handleFetchRequest).
"""

from dataclasses import dataclass

from brokerd.clock import Clock
from brokerd.errors import KafkaError
from brokerd.event_loop_turns import finish_steps
from brokerd.protocol.fetch_request import TOPIC_IDS_FROM, FetchRequest, decode_fetch
from brokerd.protocol.framing import RequestHeader
from brokerd.server.background.pending_reads import PendingReads
from brokerd.server.fetch.decoded_fetch_cache import memo_of
from brokerd.server.fetch.fetch_messages import PARTITION_BYTES, ServedFetch, refusal
from brokerd.server.fetch.fetch_session_cache import FetchContext, FetchSessionCache
from brokerd.server.network.connection import Connection
from brokerd.server.network.output import Slot
from brokerd.server.requests.get_partition_or_error import LedPartitions
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import Since


@dataclass(frozen=True, slots=True)
class FetchHandler:
    """See the module. `max_bytes` is fetch.max.bytes."""

    led: LedPartitions
    sessions: FetchSessionCache
    clock: Clock
    pending_reads: PendingReads
    purgatory: Purgatory
    max_bytes: int

    def serve(self, connection: Connection, header: RequestHeader, frame: memoryview) -> None:
        """Serves one Fetch; KafkaError if it does not parse."""
        request = decode_fetch(frame, header.body_position, header.api_version)
        try:
            fetch_context = self._begin(header, request)
        except KafkaError as error:
            connection.output.add_parts(refusal(header, error))
            return
        served = ServedFetch(self, connection, header, request, fetch_context)
        served.serve()
        partition = served.answered_alone
        if partition is not None and connection.fetch_memo is None:
            connection.fetch_memo = memo_of(self.max_bytes, header, request, partition, frame)

    async def serve_large(
        self,
        connection: Connection,
        header: RequestHeader,
        request: FetchRequest,
        slot: Slot,
        since: Since,
    ) -> None:
        """As `serve`, for a request that a thread has decoded, up to its answer or its wait."""
        try:
            fetch_context = self._begin(header, request)
        except KafkaError as error:
            connection.deliver(slot, refusal(header, error))
            self.purgatory.times.answered(connection, since)
            return
        count = len(fetch_context.next_partitions())
        connection.output.hold(slot, PARTITION_BYTES * count)
        served = ServedFetch(self, connection, header, request, fetch_context, slot, since)
        await finish_steps(served.steps())

    def _begin(self, header: RequestHeader, request: FetchRequest) -> FetchContext:
        uses_topic_ids = header.api_version >= TOPIC_IDS_FROM
        return self.sessions.begin(request, uses_topic_ids, self.clock.now_ms())
