"""Delayed operations: checked once per loop iteration, ended by success, time or the connection."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any, cast

import pytest

from brokerd.metric_counters import BrokerMetrics
from brokerd.replication.partition import Partition
from brokerd.server.fetch import delayed_fetch
from brokerd.server.fetch.delayed_fetch import DelayedFetch, delay_fetch
from brokerd.server.requests import purgatory as purgatory_module
from brokerd.server.requests.purgatory import Purgatory
from brokerd.server.requests.request_times import RequestTimes


@pytest.fixture(autouse=True)
def _long_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine two looks take longer than a turn."""
    monkeypatch.setattr(purgatory_module, "TURN_S", 3600)


def empty_purgatory() -> Purgatory:
    return Purgatory(RequestTimes(BrokerMetrics(), 1.0))


class Listened:
    """Stands for a partition: something with listeners."""

    def __init__(self) -> None:
        self.listeners: dict[Callable[[Any], None], None] = {}

    def move(self) -> None:
        for listener in tuple(self.listeners):
            listener(self)


class Client:
    """Stands for a connection: it has delayed operations."""

    def __init__(self) -> None:
        self.delayed_operations: set[DelayedFetch] = set()
        self.active_at = monotonic()
        self.last_header = None
        self.closed: list[str] = []

    def close(self, reason: str) -> None:
        self.closed.append(reason)
        for operation in tuple(self.delayed_operations):
            operation.cancel()


def delay(purgatory: Purgatory, client: Client, partition: Listened, timeout_s: float) -> list[str]:
    """Delays a request whose check succeeds the second time; what happens to it is listed."""
    seen: list[str] = []

    def check(_moved: Any) -> bool:
        seen.append("looked")
        return len(seen) >= 2

    delay_fetch(
        purgatory, client, cast(list[Partition], [partition]), timeout_s, check,
        lambda: seen.append("ended"),
    )  # fmt: skip
    return seen


async def test_many_moves_in_one_iteration_are_one_look_and_success_ends_it() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 60)
    partition.move()
    partition.move()
    assert seen == []
    await asyncio.sleep(0)
    assert seen == ["looked"]
    partition.move()
    await asyncio.sleep(0)
    assert seen == ["looked", "looked", "ended"]
    assert (partition.listeners, client.delayed_operations, purgatory.count) == ({}, set(), 0)


async def test_it_is_told_which_of_its_partitions_have_moved() -> None:
    purgatory, client, partitions = empty_purgatory(), Client(), [Listened() for _ in range(3)]
    told: list[Any] = []

    def check(moved: Any) -> bool:
        told.append(moved)
        return False

    named = cast(list[Partition], partitions)
    delay_fetch(purgatory, client, named, 60, check, lambda: None)
    for moving in ([0, 2, 0], [1]):
        for number in moving:
            partitions[number].move()
        await asyncio.sleep(0)
    assert told == [{partitions[0], partitions[2]}, {partitions[1]}]
    client.close("gone")


async def test_many_that_one_move_wakes_are_looked_at_in_turns_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(purgatory_module, "TURN_S", -1)
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = [delay(purgatory, client, partition, 60) for _ in range(3)]
    partition.move()
    for turn in range(1, 4):
        await asyncio.sleep(0)
        assert seen == [["looked"]] * turn + [[]] * (3 - turn)
        partition.move()
    for _ in range(3):
        await asyncio.sleep(0)
    assert seen == [["looked", "looked", "ended"]] * 3
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_time_ends_it() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 0.001)
    async with asyncio.timeout(10):
        while not seen:
            await asyncio.sleep(0.001)
    assert seen == ["ended"]
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_a_closed_connection_ends_it_without_an_answer() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    seen = delay(purgatory, client, partition, 60)
    partition.move()
    for operation in tuple(client.delayed_operations):
        operation.cancel()
    await asyncio.sleep(0)
    assert seen == []
    assert (partition.listeners, purgatory.count) == ({}, 0)


async def test_one_that_fails_ends_its_connection_and_no_other_request() -> None:
    purgatory, client, other, partition = empty_purgatory(), Client(), Client(), Listened()

    def fail(_moved: Any) -> bool:
        raise ZeroDivisionError

    waits_on = cast(list[Partition], [partition])
    delay_fetch(purgatory, client, waits_on, 60, fail, lambda: None)
    seen = delay(purgatory, other, partition, 60)
    partition.move()
    await asyncio.sleep(0)
    assert (client.closed, client.delayed_operations) == (
        ["an unexpected error in the broker"],
        set(),
    )
    assert (seen, other.closed, purgatory.count) == (["looked"], [], 1)


async def test_where_too_much_waits_the_oldest_long_poll_is_answered_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delayed_fetch, "PARTITIONS_MAX", 2)
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    ended: list[str] = []

    def poll(name: str) -> None:
        waits_on = cast(list[Partition], [partition])
        delay_fetch(purgatory, client, waits_on, 60, lambda _: False, lambda: ended.append(name))

    for name in ("first", "second", "third"):
        poll(name)
    assert ended == ["first"]
    poll("fourth")
    assert ended == ["first", "second"]
    assert purgatory.count == 2


async def test_a_partition_named_many_times_is_listened_to_once() -> None:
    purgatory, client, partition = empty_purgatory(), Client(), Listened()
    named = cast(list[Partition], [partition] * 3)
    delay_fetch(purgatory, client, named, 60, lambda _: False, lambda: None)
    assert len(partition.listeners) == 1
    client.close("gone")
    assert (partition.listeners, purgatory.count) == ({}, 0)
