"""A Fetch that is not answered at once: it waits for the disk, for min_bytes or for max_wait_ms.

A thread brings records from the disk into memory first. A request with many partitions is checked
and encoded in several iterations of the event loop, or by a thread, so that it does not delay
other requests.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeVar

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import FetchRequest
from brokerd.protocol.fetch_response import (
    FetchReply,
)
from brokerd.protocol.framing import RequestHeader
from brokerd.server.fetch.fetch_attempt import FetchAttempt
from brokerd.server.fetch.min_bytes_tracker import MinBytesTracker
from brokerd.server.fetch.sessions import partition_key
from brokerd.server.requests.delayed_operations import LATER
from brokerd.turns import in_turns, uncollected

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from brokerd.replication.partition import Partition
    from brokerd.server.fetch.fetch_handler import FetchHandler
    from brokerd.server.fetch.sessions import FetchContext
    from brokerd.server.network.connection import Connection
    from brokerd.server.network.output import Slot
    from brokerd.server.requests.request_times import Since

logger = logging.getLogger(__name__)

Item = TypeVar("Item")
READ_ROUNDS_MAX = 4
AT_ONCE_MAX: Final = 1_000
"""Of more partitions than this a Fetch is served in turns: a few milliseconds."""
SLICE = 100
PARTITION_BYTES = 256
"""About what one partition of a Fetch that waits takes of memory."""
_REPLY_KEY = itemgetter(*map(FetchReply._fields.index, ("topic", "topic_id", "partition")))


class DelayedFetch:
    """A Fetch that is answered later; its slot among the replies is reserved. First it waits for
    threads that read from the disk. Each round loads what the attempt before did not find in
    memory: the indexes, then the header of the batch, then the records. Loaded pages may leave the
    memory before the next attempt, so the last attempt reads from the disk itself. Then it waits
    for records until `max_wait_ms` is over."""

    __slots__ = (
        "_connection", "_ends_s", "_fetch", "_handler", "_header", "_min_bytes", "_request",
        "_since", "_slot", "_unknown", "_wanted",
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
        """`slot` and `since` are those of the request; without them it is one of the current
        receive."""
        self._handler = handler
        self._connection = connection
        self._header = header
        self._request = request
        self._fetch = fetch
        self._wanted = fetch.partitions
        self._unknown: list[FetchReply] | None = None
        self._min_bytes: MinBytesTracker | None = None
        self._ends_s = asyncio.get_running_loop().time() + request.max_wait_ms / 1000
        self._since = since or handler.purgatory.times.leaves(connection, ApiKey.FETCH)
        self._slot = slot or connection.output.reserve()
        connection.output.hold(self._slot, PARTITION_BYTES * len(fetch.partitions))

    @property
    def _is_long(self) -> bool:
        return len(self._wanted) + len(self._unknown or ()) > AT_ONCE_MAX

    async def serve(self, attempt: FetchAttempt | None = None) -> None:
        """Answers the Fetch, or delays it; `attempt` is the attempt that was made already."""
        try:
            with uncollected() if self._is_long else nullcontext():
                await self._serve(attempt)
        except Exception:
            # Without this reply none behind it could be sent.
            logger.exception("a fetch could not be answered")
            self._connection.close("an unexpected error in the broker")

    async def _serve(self, attempt: FetchAttempt | None) -> None:
        connection, pending_reads = self._connection, self._handler.pending_reads
        time_s = asyncio.get_running_loop().time
        had_pending_reads = False
        reads = 0
        while True:
            begun_s = time_s()
            if attempt is None:
                attempt = await self._attempt_in_turns(may_block=reads == READ_ROUNDS_MAX)
            if connection.closed:
                attempt.give_up()
                return
            left_s = self._ends_s - time_s()
            if attempt.pending_reads:
                attempt.release()
                pending_reads.requests += not had_pending_reads
                had_pending_reads = True
                reads += await pending_reads.load_for(
                    connection, attempt.pending_reads, lambda: not connection.closed
                )
                if not connection.closed:
                    await pending_reads.load_logs(attempt.unloaded)
            elif attempt.is_enough or left_s <= 0 or not attempt.partitions:
                await self._send_in_turns(attempt)
                self._handler.purgatory.times.answered(connection, self._since)
                return
            elif not attempt.has_moved:
                self.delay(attempt, left_s)
                return
            else:  # partitions with many appends move again at once: do not try without pause
                attempt.release()
                await asyncio.sleep(min(time_s() - begun_s, left_s))
            attempt = None

    def delay(self, attempt: FetchAttempt, timeout_s: float) -> None:
        """Waits for min_bytes or until the time is over; unknown partitions are not read again."""
        attempt.release()
        self._fetch.waits(attempt.names)
        self._unknown = attempt.unknown or []
        if attempt.unknown:
            unknown = set(map(_REPLY_KEY, attempt.unknown))
            self._wanted = [each for each in self._wanted if partition_key(each) not in unknown]
        partitions: Iterable[Partition] = attempt.partitions
        if attempt.min_bytes > 1:
            self._min_bytes = MinBytesTracker(
                self._handler.led, self._request, self._wanted, attempt
            )
            partitions = self._min_bytes.partitions
        self._handler.purgatory.delay(
            self._connection, partitions, timeout_s, self._check, self._expire, self._since,
        )  # fmt: skip

    def _check(self, moved: Collection[Partition]) -> object:
        waited_for = self._min_bytes
        if waited_for is not None and not waited_for.may_be_there(moved):
            return False
        if self._is_long:
            return self._go_on()
        attempt = self._attempt()
        if not attempt.is_enough:
            attempt.release()
            if waited_for is not None:
                waited_for.saw(attempt)
            return False
        self._send(attempt)
        return True

    def _expire(self) -> object:
        if self._is_long:
            self._ends_s = 0.0
            return self._go_on()
        self._send(self._attempt())
        return None

    def _go_on(self) -> object:
        self._handler.pending_reads.begin(self.serve())
        return LATER

    def _new_attempt(self, *, may_block: bool) -> FetchAttempt:
        handler = self._handler
        return FetchAttempt(
            handler.led, handler.max_bytes, self._request, self._fetch,
            may_block=may_block, unknown=self._unknown,
        )  # fmt: skip

    def _attempt(self) -> FetchAttempt:
        attempt = self._new_attempt(may_block=True)
        attempt.read(self._wanted)
        attempt.end()
        return attempt

    async def _attempt_in_turns(self, *, may_block: bool) -> FetchAttempt:
        attempt = self._new_attempt(may_block=may_block)
        try:
            await in_turns(slices(self._wanted), attempt.read)
        except BaseException:
            attempt.give_up()
            raise
        attempt.end()
        return attempt

    def _send(self, attempt: FetchAttempt) -> None:
        parts = self._handler.answer(self._connection, self._header, self._fetch, attempt)
        self._connection.deliver(self._slot, parts)

    async def _send_in_turns(self, attempt: FetchAttempt) -> None:
        if len(attempt.replies) <= AT_ONCE_MAX:
            self._send(attempt)
            return
        answer = self._handler.answer_in_turns
        try:
            parts = await answer(self._connection, self._header, self._fetch, attempt)
        except BaseException:
            attempt.release()
            raise
        self._connection.deliver(self._slot, parts)


def slices(items: list[Item]) -> Iterator[list[Item]]:
    """Parts of a long list, each for one turn."""
    for start in range(0, len(items), SLICE):
        yield items[start : start + SLICE]
