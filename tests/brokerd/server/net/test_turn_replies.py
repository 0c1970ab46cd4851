"""When replies leave: at once to a lone client, together to those of one turn."""

import asyncio

from brokerd.metrics import LoopTimes
from brokerd.server.net.turn_replies import TurnReplies


class Client:
    """Stands for a connection."""

    def __init__(self, name: str, sent: list[str]) -> None:
        self._name = name
        self._sent = sent

    def flush(self) -> None:
        self._sent.append(self._name)


def turn_of(ready: int) -> tuple[TurnReplies, list[str]]:
    times = LoopTimes()
    times.waking = ready
    return TurnReplies(times), []


def serve(replies: TurnReplies, name: str, sent: list[str]) -> None:
    replies.begin()
    replies.send(Client(name, sent))  # type: ignore[arg-type]


async def test_a_lone_client_is_answered_at_once() -> None:
    replies, sent = turn_of(1)
    serve(replies, "a", sent)
    assert sent == ["a"]


async def test_several_are_answered_in_order_when_the_last_was_served() -> None:
    replies, sent = turn_of(3)
    serve(replies, "a", sent)
    serve(replies, "b", sent)
    assert sent == []
    serve(replies, "c", sent)
    assert sent == ["a", "b", "c"]


async def test_one_that_has_nothing_to_say_does_not_hold_the_others_up() -> None:
    replies, sent = turn_of(2)
    serve(replies, "a", sent)
    replies.begin()
    await asyncio.sleep(0)
    assert sent == ["a"]


async def test_nobody_waits_where_no_selector_counts() -> None:
    replies, sent = turn_of(0)
    for name in "ab":
        serve(replies, name, sent)
    assert sent == ["a", "b"]


async def test_what_is_sent_in_the_next_turn_is_sent_once() -> None:
    replies, sent = turn_of(2)
    serve(replies, "a", sent)
    serve(replies, "b", sent)
    await asyncio.sleep(0)
    assert sent == ["a", "b"]
