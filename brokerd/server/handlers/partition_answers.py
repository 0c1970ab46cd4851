"""The answers of requests that name partitions by topic, where each may have to read files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from brokerd.turns import at_once_or_in_turns

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from brokerd.server.context import Fields

Asked = TypeVar("Asked")


def answer_partitions(
    topics: Sequence[tuple[str, Sequence[Asked]]],
    answer: Callable[[str, Asked], Any],
    *,
    name_field: str = "name",
) -> Fields | Awaitable[Fields]:
    """`{"topics": [{name_field: topic, "partitions": [answer(topic, asked), …]}, …]}`, in the order
    of the request: at once, or, of many partitions, in turns of the loop."""
    answers: list[Fields] = [{name_field: name, "partitions": []} for name, _ in topics]

    def serve(place: tuple[list[Any], str, Asked]) -> None:
        rows, topic, asked = place
        rows.append(answer(topic, asked))

    places = [
        (told["partitions"], topic, each)
        for told, (topic, wanted) in zip(answers, topics, strict=True)
        for each in wanted
    ]
    return at_once_or_in_turns(places, serve, {"topics": answers})
