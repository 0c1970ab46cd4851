"""The answers of requests that name partitions by topic, where each may have to read files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from brokerd.log.cold import ColdError
from brokerd.turns import at_once_or_in_turns, in_turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from brokerd.log.cold import Spot
    from brokerd.server.cold_reads import ColdReads
    from brokerd.server.context import Fields

ROUNDS_MAX = 12
"""So often what is lacking is read by threads before an answer waits for the disk."""

Asked = TypeVar("Asked", contravariant=True)


class Answer(Protocol[Asked]):
    """The answer for what is asked of a partition. Raises ColdError, unless patient, where that
    takes long."""

    def __call__(self, topic: str, asked: Asked, /, *, patient: bool) -> Any: ...


class _Late(NamedTuple):
    """Whose place among the answers is kept, and what has to be read first."""

    rows: list[Any]
    number: int
    topic: str
    asked: Any
    spot: Spot


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
            late.append(_Late(rows, len(rows), topic, asked, error.spot))
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

    def retry(patient: bool, each: _Late) -> None:
        try:
            row = answer(each.topic, each.asked, patient=patient)
        except ColdError as error:
            late.append(each._replace(spot=error.spot))
        else:
            each.rows[each.number] = row

    for rounds_left in range(ROUNDS_MAX - 1, -1, -1):
        if not late:
            break
        await cold_reads.warm([each.spot for each in late], lambda: True)
        waiting = late.copy()
        late.clear()
        await in_turns(waiting, partial(retry, rounds_left == 0))
    return result
