"""What a turn of the loop does at its end: appends and replies of the clients that it served."""

import asyncio
from typing import Any

from brokerd.metrics import LoopTimes
from brokerd.server.net.turn import Turn


class Client:
    """Stands for a connection."""

    peer_host = "here"

    def __init__(self, name: str, done: list[str]) -> None:
        self._name = name
        self._done = done

    def flush(self) -> None:
        if self._name == "bad":
            raise RuntimeError
        self._done.append(self._name)

    def close(self, reason: str) -> None:
        self._done.append(f"{self._name} closed: {reason}")


class Appends:
    """Stands for the Produces that were taken in, and for the clock of requests."""

    def __init__(self, done: list[str]) -> None:
        self._done = done
        self.fails = False

    def commit(self) -> None:
        if self.fails:
            raise RuntimeError
        self._done.append("appended")

    def receive_ends(self, connection: Any, start_s: float) -> None:
        self._done.append(f"timed since {start_s}")


def turn_of(ready: int) -> tuple[Turn, list[str]]:
    loop = LoopTimes()
    loop.waking = ready
    done: list[str] = []
    appends: Any = Appends(done)
    return Turn(loop, appends, appends), done


def serve(turn: Turn, name: str, done: list[str]) -> None:
    client: Any = Client(name, done)
    turn.begin()
    turn.send(client)


def receive(turn: Turn, name: str, start_s: float, done: list[str]) -> None:
    """Produces that wait."""
    client: Any = Client(name, done)
    turn.begin()
    turn.wait(client, start_s)


async def test_a_lone_client_is_answered_at_once() -> None:
    turn, done = turn_of(1)
    serve(turn, "a", done)
    assert done == ["a"]


async def test_several_are_answered_in_order_when_the_last_was_served() -> None:
    turn, done = turn_of(3)
    serve(turn, "a", done)
    serve(turn, "b", done)
    assert done == []
    serve(turn, "c", done)
    assert done == ["a", "b", "c"]


async def test_one_that_has_nothing_to_say_does_not_hold_the_others_up() -> None:
    turn, done = turn_of(2)
    serve(turn, "a", done)
    turn.begin()
    await asyncio.sleep(0)
    assert done == ["a"]


async def test_nobody_waits_where_no_selector_counts() -> None:
    turn, done = turn_of(0)
    for name in "ab":
        serve(turn, name, done)
    assert done == ["a", "b"]


async def test_what_is_sent_in_the_next_turn_is_sent_once() -> None:
    turn, done = turn_of(2)
    serve(turn, "a", done)
    serve(turn, "b", done)
    await asyncio.sleep(0)
    assert done == ["a", "b"]


async def test_what_waits_is_appended_once_timed_from_the_first_and_then_answered() -> None:
    turn, done = turn_of(3)
    receive(turn, "a", 1.0, done)
    receive(turn, "b", 2.0, done)
    await asyncio.sleep(0)
    assert done == ["appended", "timed since 1.0", "a", "b"]


async def test_the_last_client_of_a_turn_brings_what_waits_to_its_end() -> None:
    turn, done = turn_of(2)
    receive(turn, "a", 1.0, done)
    turn.begin()
    turn.commit()
    client: Any = Client("b", done)
    turn.send(client)
    await asyncio.sleep(0)
    assert done == ["appended", "timed since 1.0", "a", "b"]


async def test_what_waits_with_what_cannot_be_served_is_told_by_closing() -> None:
    turn, done = turn_of(2)
    receive(turn, "a", 1.0, done)
    turn.fail()
    await asyncio.sleep(0)
    assert done == ["a closed: an unexpected error in the broker"]


async def test_those_that_only_wait_for_their_replies_get_them_though_another_fails() -> None:
    turn, done = turn_of(9)
    serve(turn, "a", done)
    receive(turn, "b", 1.0, done)
    turn.commit()
    serve(turn, "c", done)
    receive(turn, "d", 2.0, done)
    turn.fail()
    receive(turn, "e", 3.0, done)
    await asyncio.sleep(0)
    assert done == [
        "appended", "timed since 1.0", "d closed: an unexpected error in the broker",
        "appended", "timed since 3.0", "a", "b", "c", "e",
    ]  # fmt: skip


async def test_a_turn_that_could_not_be_ended_leaves_nobody_to_wait() -> None:
    loop = LoopTimes()
    loop.waking = 9
    done: list[str] = []
    appends: Any = Appends(done)
    turn = Turn(loop, appends, appends)
    serve(turn, "a", done)
    receive(turn, "b", 1.0, done)
    appends.fails = True
    await asyncio.sleep(0)
    assert done == ["b closed: an unexpected error in the broker", "a"]
    appends.fails = False
    receive(turn, "c", 2.0, done)
    await asyncio.sleep(0)
    assert done[2:] == ["appended", "timed since 2.0", "c"]


async def test_one_that_cannot_be_sent_to_does_not_keep_the_others_from_their_replies() -> None:
    turn, done = turn_of(9)
    for name in ("a", "bad", "c"):
        serve(turn, name, done)
    await asyncio.sleep(0)
    assert done == ["a", "bad closed: an unexpected error in the broker", "c"]
