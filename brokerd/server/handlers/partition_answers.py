"""The answers of requests that name partitions by topic, where each may have to read files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from brokerd.log.cold import READS_MAX, ColdError
from brokerd.protocol.messages import encode_item
from brokerd.server.cold_reads import chunks
from brokerd.turns import AT_ONCE_MAX, in_turns, uncollected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Sequence

    from brokerd.log.cold import Spot
    from brokerd.server.cold_reads import ColdReads
    from brokerd.server.context import Fields, RequestContext

Asked = TypeVar("Asked")
AskedOf = TypeVar("AskedOf", contravariant=True)


class Answer(Protocol[AskedOf]):
    """The answer for what is asked of a partition. Raises ColdError, unless patient, where that
    takes long."""

    def __call__(self, topic: str, asked: AskedOf, /, *, patient: bool) -> Any: ...


class _Late(NamedTuple):
    """Who waits for something to be read; its place among the answers is kept."""

    rows: list[Any]
    number: int
    topic: str
    asked: Any


def answer_partitions(
    cold_reads: ColdReads,
    context: RequestContext,
    topics: Sequence[tuple[str, Sequence[Asked]]],
    answer: Answer[Asked],
    *,
    name_field: str = "name",
) -> Fields | Awaitable[Fields]:
    """`{"topics": [{name_field: topic, "partitions": [answer(topic, asked), …]}, …]}`, in the order
    of the request: at once, or, of many partitions, in turns of the loop, with each topic encoded,
    and where files have to be read for long, when threads have done it."""
    answers = _Answers(answer, name_field)
    places = answers.places(topics)
    if len(topics) > AT_ONCE_MAX or sum(len(wanted) for _, wanted in topics) > AT_ONCE_MAX:
        return _in_turns(answers, places, context, cold_reads)
    for place in places:
        answers.serve(place)
    return _when_read(answers, cold_reads) if answers.late else {"topics": answers.topics}


class _Answers(Generic[Asked]):
    """The answers so far, and who is late."""

    def __init__(self, answer: Answer[Asked], name_field: str) -> None:
        self.answer = answer
        self.topics: list[Any] = []
        self.late: list[_Late] = []
        self._name_field = name_field

    def places(
        self, topics: Sequence[tuple[str, Sequence[Asked]]]
    ) -> Iterator[tuple[list[Any], str, Asked]]:
        """Where each answer goes, its topic, and what is asked."""
        for name, wanted in topics:
            rows: list[Any] = []
            self.topics.append({self._name_field: name, "partitions": rows})
            for each in wanted:
                yield rows, name, each

    def serve(self, place: tuple[list[Any], str, Asked]) -> None:
        rows, topic, asked = place
        try:
            rows.append(self.answer(topic, asked, patient=False))
        except ColdError as error:
            error.spot.release()  # there may be thousands; some at a time are read later
            self.late.append(_Late(rows, len(rows), topic, asked))
            rows.append(None)


async def _in_turns(
    answers: _Answers[Asked],
    places: Iterator[tuple[list[Any], str, Asked]],
    context: RequestContext,
    cold_reads: ColdReads,
) -> Fields:
    encode = partial(encode_item, context.api_key, context.api_version, ("topics",))
    encoded: list[bytes] = []
    with uncollected():
        await in_turns(places, answers.serve)
        await _when_read(answers, cold_reads)
        await in_turns(answers.topics, lambda told: encoded.append(encode(told)))
    return {"topics": encoded}


async def _when_read(answers: _Answers[Any], cold_reads: ColdReads) -> Fields:
    for chunk in chunks(answers.late):
        left = chunk
        for rounds_left in range(READS_MAX, -1, -1):
            left, spots = await _try_again(left, answers.answer, patient=rounds_left == 0)
            if not left:
                break
            await cold_reads.warm(spots, lambda: True)
    return {"topics": answers.topics}


async def _try_again(
    late: list[_Late], answer: Answer[Any], *, patient: bool
) -> tuple[list[_Late], list[Spot]]:
    """Those that lack something yet, and what that is."""
    left: list[_Late] = []
    spots: list[Spot] = []

    def retry(each: _Late) -> None:
        try:
            each.rows[each.number] = answer(each.topic, each.asked, patient=patient)
        except ColdError as error:
            left.append(each)
            spots.append(error.spot)

    await in_turns(late, retry)
    return left, spots
