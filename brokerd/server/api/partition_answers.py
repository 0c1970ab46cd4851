"""Answers of requests about partitions by topic, of which each may have to read files."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from brokerd.log.io.page_cache import READS_MAX, NotInPageCache, PendingRead
from brokerd.protocol.messages import item_encoder
from brokerd.server.background.pending_reads import PendingReads, chunks
from brokerd.server.requests.context import Fields, RequestContext
from brokerd.turns import at_once_or_in_turns, in_turns, uncollected

Asked = TypeVar("Asked")
AskedOf = TypeVar("AskedOf", contravariant=True)
_Place = tuple[list[bytes], str, Asked]
"""Where an answer goes, its topic, and what is asked."""


class Answer(Protocol[AskedOf]):
    """The answer for what is asked of a partition. Raises NotInPageCache if not may_block and it
    would wait for the disk."""

    def __call__(self, topic: str, asked: AskedOf, /, *, may_block: bool) -> Fields: ...


class _Late(NamedTuple):
    """A partition that waits for a read; its place among the answers is kept."""

    rows: list[bytes]
    number: int
    topic: str
    asked: Any


def answer_partitions(
    pending_reads: PendingReads,
    context: RequestContext,
    topics: Sequence[tuple[str, Sequence[Asked]]],
    answer: Answer[Asked],
    *,
    name_field: str = "name",
) -> Fields | Awaitable[Fields]:
    """`{"topics": [{name_field: topic, "partitions": [answer(topic, asked), …]}, …]}`, in the order
    of the request and with each partition encoded: at once, or, of many partitions, in several
    iterations of the loop, and where files have to be read for long, when threads have done it."""
    encode = item_encoder(context.api_key, context.api_version, ("topics", "partitions"))
    answers = _Answers(answer, encode, name_field)
    served = at_once_or_in_turns(answers.places(topics), answers.serve, None)
    if served is None and not answers.late:
        return {"topics": answers.topics}
    return _when_read(served, answers, pending_reads)


class _Answers(Generic[Asked]):
    """The answers so far, and the partitions that wait."""

    def __init__(
        self, answer: Answer[Asked], encode: Callable[[Fields], bytes], name_field: str
    ) -> None:
        self._answer = answer
        self._encode = encode
        self.topics: list[Any] = []
        self.late: list[_Late] = []
        self._name_field = name_field

    def places(self, topics: Sequence[tuple[str, Sequence[Asked]]]) -> Iterator[_Place[Asked]]:
        for name, wanted in topics:
            rows: list[bytes] = []
            self.topics.append({self._name_field: name, "partitions": rows})
            for each in wanted:
                yield rows, name, each

    def serve(self, place: _Place[Asked]) -> None:
        rows, topic, asked = place
        try:
            rows.append(self._encode(self._answer(topic, asked, may_block=False)))
        except NotInPageCache as error:
            error.pending_read.release()  # there may be thousands; some at a time are read later
            self.late.append(_Late(rows, len(rows), topic, asked))
            rows.append(b"")

    def answer(self, topic: str, asked: Asked, *, may_block: bool) -> bytes:
        return self._encode(self._answer(topic, asked, may_block=may_block))


async def _when_read(
    served: Awaitable[None] | None, answers: _Answers[Any], pending_reads: PendingReads
) -> Fields:
    with uncollected():
        if served is not None:
            await served
        for chunk in chunks(answers.late):
            left = chunk
            for rounds_left in range(READS_MAX, -1, -1):
                left, pending = await _try_again(left, answers.answer, may_block=rounds_left == 0)
                if not left:
                    break
                await pending_reads.load(pending, lambda: True)
    return {"topics": answers.topics}


async def _try_again(
    late: list[_Late], answer: Callable[..., bytes], *, may_block: bool
) -> tuple[list[_Late], list[PendingRead]]:
    """Those that still need a read, and which read."""
    left: list[_Late] = []
    pending: list[PendingRead] = []

    def retry(each: _Late) -> None:
        try:
            each.rows[each.number] = answer(each.topic, each.asked, may_block=may_block)
        except NotInPageCache as error:
            left.append(each)
            pending.append(error.pending_read)

    await in_turns(late, retry)
    return left, pending
