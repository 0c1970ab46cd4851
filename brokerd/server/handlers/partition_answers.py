"""The answers of requests that name partitions by topic, where each may have to read files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from brokerd.log.cold import READS_MAX, ColdError
from brokerd.server.cold_reads import chunks
from brokerd.turns import at_once_or_in_turns, in_turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from brokerd.log.cold import Spot
    from brokerd.server.cold_reads import ColdReads
    from brokerd.server.context import Fields

Asked = TypeVar("Asked", contravariant=True)


class Answer(Protocol[Asked]):
    """The answer for what is asked of a partition. Raises ColdError, unless patient, where that
    takes long."""

    def __call__(self, topic: str, asked: Asked, /, *, patient: bool) -> Any: ...


class _Late(NamedTuple):
    """Who waits for something to be read; its place among the answers is kept."""

    rows: list[Any]
    number: int
    topic: str
    asked: Any


def answer_partitions(
    cold_reads: ColdReads,
    topics: Sequence[tuple[str, Sequence[Asked]]],
    answer: Answer[Asked],
    *,
    name_field: str = "name",
) -> Fields | Awaitable[Fields]:
    """`{"topics": [{name_field: topic, "partitions": [answer(topic, asked), …]}, …]}`, in the order
    of the request: at once, or, of many partitions, in turns of the loop, and where files have to
    be read for long, when threads have done it."""
    answers: list[Fields] = [{name_field: name, "partitions": []} for name, _ in topics]
    late: list[_Late] = []

    def serve(place: tuple[list[Any], str, Asked]) -> None:
        rows, topic, asked = place
        try:
            rows.append(answer(topic, asked, patient=False))
        except ColdError as error:
            error.spot.release()  # there may be thousands; some at a time are read later
            late.append(_Late(rows, len(rows), topic, asked))
            rows.append(None)

    places = [
        (told["partitions"], topic, each)
        for told, (topic, wanted) in zip(answers, topics, strict=True)
        for each in wanted
    ]
    result: Fields = {"topics": answers}
    served = at_once_or_in_turns(places, serve, None)
    if served is None and not late:
        return result
    return _answered(served, late, cold_reads, answer, result)


async def _answered(
    served: Awaitable[None] | None,
    late: list[_Late],
    cold_reads: ColdReads,
    answer: Answer[Any],
    result: Fields,
) -> Fields:
    if served is not None:
        await served
    for chunk in chunks(late):
        left = chunk
        for rounds_left in range(READS_MAX, -1, -1):
            left, spots = await _try_again(left, answer, patient=rounds_left == 0)
            if not left:
                break
            await cold_reads.warm(spots, lambda: True)
    return result


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
