"""Makes the response of a request about partitions by topic, of which each may have to read files:
ListOffsets, OffsetForLeaderEpoch, DescribeProducers.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from brokerd.event_loop_turns import at_once_or_in_turns, in_turns
from brokerd.garbage_collection import uncollected
from brokerd.log.io.page_cache import READS_MAX, NotInPageCache, PendingRead
from brokerd.protocol.messages import item_encoder
from brokerd.server.background.pending_reads import PendingReads, chunks
from brokerd.server.requests.request_context import Fields, RequestContext


class Answer(Protocol):
    """The answer for what is asked of a partition. Raises NotInPageCache if not may_block and it
    would wait for the disk."""

    def __call__(self, topic: str, asked: Any, /, *, may_block: bool) -> Any: ...


class _Place(NamedTuple):
    """A partition of the request: what is asked of it, and where its answer goes."""

    rows: list[bytes]
    number: int
    topic: str
    asked: Any


def answer_partitions(
    pending_reads: PendingReads,
    context: RequestContext,
    topics: Sequence[tuple[str, Sequence[Any]]],
    answer: Answer,
    *,
    name_field: str = "name",
    encode: Callable[[Any], bytes] | None = None,
) -> Fields | Awaitable[Fields]:
    """`{"topics": [{name_field: topic, "partitions": [answer(topic, asked), …]}, …]}`, in the order
    of the request and with each partition encoded (by `encode`, else as kio has it): at once, or,
    of many partitions, in several iterations of the loop, and where files have to be read for long,
    when threads have done it."""
    encode = encode or item_encoder(context.api_key, context.api_version, ("topics", "partitions"))
    answers = _Answers(answer, encode)
    places = answers.places(topics, name_field)
    served = at_once_or_in_turns(places, answers.serve, None)
    if served is None and not answers.late:
        return {"topics": answers.topics}
    return answers.when_read(served, pending_reads)


class _Answers:
    """The answers so far, and the partitions that wait for a read."""

    def __init__(self, answer: Answer, encode: Callable[[Any], bytes]) -> None:
        self._answer = answer
        self._encode = encode
        self.topics: list[Fields] = []
        self.late: list[_Place] = []

    def places(
        self, topics: Sequence[tuple[str, Sequence[Any]]], name_field: str
    ) -> Iterator[_Place]:
        for name, wanted in topics:
            rows = [b""] * len(wanted)
            self.topics.append({name_field: name, "partitions": rows})
            for number, asked in enumerate(wanted):
                yield _Place(rows, number, name, asked)

    def serve(self, place: _Place) -> None:
        try:
            self._fill(place, may_block=False)
        except NotInPageCache as error:
            error.pending_read.release()  # there may be thousands; some at a time are read later
            self.late.append(place)

    def _fill(self, place: _Place, *, may_block: bool) -> None:
        answered = self._answer(place.topic, place.asked, may_block=may_block)
        place.rows[place.number] = self._encode(answered)

    async def when_read(
        self, served: Awaitable[None] | None, pending_reads: PendingReads
    ) -> Fields:
        with uncollected():
            if served is not None:
                await served
            for chunk in chunks(self.late):
                left = chunk
                for rounds_left in range(READS_MAX, -1, -1):
                    left, pending = await self._try_again(left, may_block=rounds_left == 0)
                    if not left:
                        break
                    await pending_reads.load(pending, lambda: True)
        return {"topics": self.topics}

    async def _try_again(
        self, late: list[_Place], *, may_block: bool
    ) -> tuple[list[_Place], list[PendingRead]]:
        """Tries to answer these; returns those that still need a read, and the reads."""
        left: list[_Place] = []
        pending: list[PendingRead] = []

        def retry(place: _Place) -> None:
            try:
                self._fill(place, may_block=may_block)
            except NotInPageCache as error:
                left.append(place)
                pending.append(error.pending_read)

        await in_turns(late, retry)
        return left, pending
