"""What a tick of the loop does at its end: appends and replies of the clients that it served."""

import asyncio
from typing import Any

from brokerd.metric_counters import LoopTimes
from brokerd.server.network.loop_tick import LoopTick


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

    def append_all(self) -> None:
        if self.fails:
            raise RuntimeError
        self._done.append("appended")

    def receive_ends(self, connection: Any, start_s: float) -> None:
        self._done.append(f"timed since {start_s}")


def tick_of(ready: int) -> tuple[LoopTick, list[str]]:
    loop = LoopTimes()
    loop.waking = ready
    done: list[str] = []
    appends: Any = Appends(done)
    return LoopTick(loop, appends, appends.append_all), done


def serve(tick: LoopTick, name: str, done: list[str]) -> None:
    client: Any = Client(name, done)
    tick.begin()
    tick.send(client)


def receive(tick: LoopTick, name: str, start_s: float, done: list[str]) -> None:
    """Produces that wait."""
    client: Any = Client(name, done)
    tick.begin()
    tick.defer_until_append(client, start_s)


async def test_a_lone_client_is_answered_at_once() -> None:
    tick, done = tick_of(1)
    serve(tick, "a", done)
    assert done == ["a"]


async def test_several_are_answered_in_order_when_the_last_was_served() -> None:
    tick, done = tick_of(3)
    serve(tick, "a", done)
    serve(tick, "b", done)
    assert done == []
    serve(tick, "c", done)
    assert done == ["a", "b", "c"]


async def test_one_that_has_nothing_to_say_does_not_hold_the_others_up() -> None:
    tick, done = tick_of(2)
    serve(tick, "a", done)
    tick.begin()
    await asyncio.sleep(0)
    assert done == ["a"]


async def test_nobody_waits_where_no_selector_counts() -> None:
    tick, done = tick_of(0)
    for name in "ab":
        serve(tick, name, done)
    assert done == ["a", "b"]


async def test_what_is_sent_in_the_next_tick_is_sent_once() -> None:
    tick, done = tick_of(2)
    serve(tick, "a", done)
    serve(tick, "b", done)
    await asyncio.sleep(0)
    assert done == ["a", "b"]


async def test_what_waits_is_appended_once_timed_from_the_first_and_then_answered() -> None:
    tick, done = tick_of(3)
    receive(tick, "a", 1.0, done)
    receive(tick, "b", 2.0, done)
    await asyncio.sleep(0)
    assert done == ["appended", "timed since 1.0", "a", "b"]


async def test_the_last_client_of_a_tick_brings_what_waits_to_its_end() -> None:
    tick, done = tick_of(2)
    receive(tick, "a", 1.0, done)
    tick.begin()
    tick.append_tick()
    client: Any = Client("b", done)
    tick.send(client)
    await asyncio.sleep(0)
    assert done == ["appended", "timed since 1.0", "a", "b"]


async def test_what_waits_with_what_cannot_be_served_is_told_by_closing() -> None:
    tick, done = tick_of(2)
    receive(tick, "a", 1.0, done)
    tick.fail()
    await asyncio.sleep(0)
    assert done == ["a closed: an unexpected error in the broker"]


async def test_those_that_only_wait_for_their_replies_get_them_though_another_fails() -> None:
    tick, done = tick_of(9)
    serve(tick, "a", done)
    receive(tick, "b", 1.0, done)
    tick.append_tick()
    serve(tick, "c", done)
    receive(tick, "d", 2.0, done)
    tick.fail()
    receive(tick, "e", 3.0, done)
    await asyncio.sleep(0)
    assert done == [
        "appended", "timed since 1.0", "d closed: an unexpected error in the broker",
        "appended", "timed since 3.0", "a", "b", "c", "e",
    ]  # fmt: skip


async def test_a_tick_that_could_not_be_ended_leaves_nobody_to_wait() -> None:
    loop = LoopTimes()
    loop.waking = 9
    done: list[str] = []
    appends: Any = Appends(done)
    tick = LoopTick(loop, appends, appends.append_all)
    serve(tick, "a", done)
    receive(tick, "b", 1.0, done)
    appends.fails = True
    await asyncio.sleep(0)
    assert done == ["b closed: an unexpected error in the broker", "a"]
    appends.fails = False
    receive(tick, "c", 2.0, done)
    await asyncio.sleep(0)
    assert done[2:] == ["appended", "timed since 2.0", "c"]


async def test_one_that_cannot_be_sent_to_does_not_keep_the_others_from_their_replies() -> None:
    tick, done = tick_of(9)
    for name in ("a", "bad", "c"):
        serve(tick, name, done)
    await asyncio.sleep(0)
    assert done == ["a", "bad closed: an unexpected error in the broker", "c"]
