"""A broker that starts waits until the controller has raised the leader epochs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from brokerd.cluster import broker_lifecycle
from brokerd.cluster.membership.startup_epoch_wait import StartupEpochWait
from brokerd.replication.partition_state import NO_LEADER, PartitionState
from tests.brokerd.cluster.members import Member, Members
from tests.support.zookeeper import ZooKeeper


@pytest.fixture
async def members(zookeeper: ZooKeeper, tmp_path: Path) -> AsyncIterator[Members]:
    async with Members(zookeeper, tmp_path) as cluster:
        yield cluster


def epochs(member: Member, topic: str) -> dict[int, int]:
    """The leader epochs of the partitions that it leads."""
    states = member.client.image.topics[topic].partitions.values()
    return {s.partition: s.leader_epoch for s in states if s.leader == member.settings.broker_id}


def leaders(member: Member, topic: str) -> set[int]:
    return {s.leader for s in member.client.image.topics[topic].partitions.values()}


async def test_the_first_broker_of_a_cluster_waits_for_nothing(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_lifecycle, "OWN_TIMEOUT_S", 1e9)
    (first,) = await members.start(1)
    await first.client.wait_for_startup_epochs()


async def one_left_its_topic(members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker made `t` with three partitions, and stopped; who waits waits for ever."""
    for constant in ("TIMEOUT_S", "OWN_TIMEOUT_S"):
        monkeypatch.setattr(broker_lifecycle, constant, 1e9)
    (alone,) = await members.start(1, default_partitions=3)
    await alone.client.topics.auto_create("t")
    await members.stop(alone)


async def test_a_broker_that_comes_back_starts_with_its_new_epochs(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    await one_left_its_topic(members, monkeypatch)
    (again,) = await members.start(1)
    assert set(epochs(again, "t").values()) == {0}, "as it was left"
    await again.client.wait_for_startup_epochs()
    assert set(epochs(again, "t").values()) == {1}
    (second,) = await members.start(2)
    await second.client.wait_for_startup_epochs()
    await members.stop(again)
    (later,) = await members.start(1)
    await later.client.wait_for_startup_epochs()
    assert len(epochs(later, "t")) == 3
    await asyncio.sleep(0.2)
    assert epochs(later, "t") == {
        index: members.node(f"/brokers/topics/t/partitions/{index}/state")["leader_epoch"]
        for index in range(3)
    }


async def test_a_broker_that_was_stopped_cleanly_starts_with_the_epochs_it_had(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    await one_left_its_topic(members, monkeypatch)
    (again,) = await members.start(1, stopped_cleanly=True)
    await again.client.wait_for_startup_epochs()
    (second,) = await members.start(2)
    assert set(epochs(again, "t").values()) == {0}
    await members.stop(again)
    await members.until(lambda: epochs(second, "t") == {} and NO_LEADER in leaders(second, "t"))
    (later,) = await members.start(1, stopped_cleanly=True)
    await later.client.wait_for_startup_epochs()
    assert set(epochs(later, "t").values()) == {2}, "another controller saw it go"


async def started_under_a_controller_that_does_nothing(members: Members) -> Member:
    """A broker with two partitions of `t`."""
    (alone,) = await members.start(1, default_partitions=2)
    await alone.client.topics.auto_create("t")
    await members.stop(alone)
    members.kazoo.create(
        "/controller", b'{"version":2,"brokerid":9,"timestamp":"1"}', ephemeral=True
    )
    (again,) = await members.start(1)
    return again


async def test_a_controller_that_does_nothing_is_not_waited_for_for_ever(
    members: Members, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(broker_lifecycle, "TIMEOUT_S", 0.2)
    again = await started_under_a_controller_that_does_nothing(members)
    await again.client.wait_for_startup_epochs()
    assert "has not written the states of 2 partitions" in caplog.text
    assert set(epochs(again, "t").values()) == {0}


async def test_what_a_broker_cannot_serve_is_not_waited_for(
    members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_lifecycle, "TIMEOUT_S", 1e9)
    again = await started_under_a_controller_that_does_nothing(members)
    again.client.report_offline([("t", 0), ("t", 1)])
    async with asyncio.timeout(20):
        await again.client.wait_for_startup_epochs()


async def test_what_becomes_of_other_partitions_does_not_make_it_wait_longer() -> None:
    waiting_for_epochs = StartupEpochWait()
    waiting_for_epochs.replace({("t", 0)})
    waiting = asyncio.ensure_future(waiting_for_epochs.wait(0.1))
    for number in range(500):
        waiting_for_epochs.no_longer_awaited([("busy", number)])
        await asyncio.sleep(0.01)
        if waiting.done():
            break
    assert waiting.done()
    assert await waiting == 1


async def test_a_state_without_a_leader_that_is_written_meanwhile_is_still_awaited() -> None:
    waiting_for_epochs = StartupEpochWait()
    waiting_for_epochs.replace({("t", 0), ("t", 1)})
    without_leader = PartitionState(
        "t", 0, uuid4(), (1,), NO_LEADER, leader_epoch=1, isr=(1,), controller_epoch=1, version=1
    )
    elected = replace(without_leader, leader=1, leader_epoch=2)
    waiting_for_epochs.states_written([without_leader, replace(elected, partition=1)], 1)
    assert await waiting_for_epochs.wait(0.01) == 1
    waiting_for_epochs.states_written([elected], 1)
    assert await waiting_for_epochs.wait(1e9) == 0


async def test_what_is_found_written_when_all_is_read_anew_is_not_waited_for() -> None:
    waiting_for_epochs = StartupEpochWait()
    waiting_for_epochs.replace({("t", 0)})
    async with asyncio.timeout(20):
        waiting = asyncio.ensure_future(waiting_for_epochs.wait(1e9))
        await asyncio.sleep(0)
        assert not waiting.done(), "it is not known yet"
        waiting_for_epochs.replace(set())
        assert await waiting == 0
