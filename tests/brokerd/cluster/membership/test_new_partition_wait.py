"""New partitions are named when their leaders have taken them up."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from brokerd.cluster.admin.new_topic_plan import NewPartitions
from brokerd.cluster.membership import new_partition_wait
from tests.brokerd.cluster.members import Member, Members
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
async def members(zookeeper: ZooKeeper, tmp_path: Path) -> AsyncIterator[Members]:
    async with Members(zookeeper, tmp_path) as cluster:
        yield cluster


def taken_up(member: Member, topic: str) -> set[int]:
    told = (state for delta in member.deltas for state in delta.partitions)
    return {state.partition for state in told if state.topic == topic}


async def test_a_topic_is_ready_when_a_slow_leader_has_taken_it_up(members: Members) -> None:
    first, second = await members.start(1, 2, default_partitions=2)
    second.may_apply.clear()
    await first.client.topics.auto_create("t")
    assert first.client.new_partition_wait.is_awaited("t")
    asyncio.get_running_loop().call_later(0.1, second.may_apply.set)
    await first.client.new_partition_wait.wait(["t"])
    assert taken_up(second, "t") == {0, 1}
    assert not first.client.new_partition_wait.is_awaited("t")
    await members.until(lambda: second.client.new_partition_wait.is_awaited("t"))
    await second.client.new_partition_wait.wait(["t", "unknown"])
    assert not second.client.new_partition_wait.is_awaited("t")


async def test_partitions_that_were_added_are_waited_for_too(members: Members) -> None:
    first, second = await members.start(1, 2)
    await first.client.topics.auto_create("t")
    await first.client.new_partition_wait.wait(["t"])
    growth = NewPartitions(topic="t", total=4)
    assert await members.controller().client.topics.grow([growth], timeout_ms=10_000) == {"t": None}
    await first.client.new_partition_wait.wait(["t"])
    assert taken_up(second, "t") == {0, 1, 2, 3}


async def test_a_leader_that_never_comes_is_waited_for_once(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_partition_wait, "TIMEOUT_S", 0.2)
    first, second = await members.start(1, 2, default_partitions=2)
    second.may_apply.clear()
    await first.client.topics.auto_create("t")
    await first.client.new_partition_wait.wait(["t"])
    assert taken_up(second, "t") == set()
    assert not first.client.new_partition_wait.is_awaited("t")
    second.may_apply.set()
