"""Queues of acknowledgements that follow real partitions."""

import asyncio
from pathlib import Path

import pytest

from brokerd.errors import ErrorCode
from brokerd.replication.partition import Partition
from brokerd.server.requests.ack_watchers import REPLICATED, AckWatchers
from tests.brokerd.log.support import NOW_MS, batch
from tests.brokerd.replication.support import replica, state


@pytest.fixture
def leader(tmp_path: Path) -> Partition:
    """It has one record, which its follower has not."""
    partition = replica(tmp_path, 1)
    partition.apply(state(1, leader=1), NOW_MS)
    partition.append([batch()], NOW_MS)
    return partition


async def test_it_is_answered_when_the_follower_has_the_record(leader: Partition) -> None:
    answers: list[ErrorCode] = []
    AckWatchers().add(leader, REPLICATED, 0, 60, answers.append)
    assert (answers, len(leader.listeners)) == ([], 1)
    leader.record_fetch(2, 1, NOW_MS)
    assert (answers, leader.listeners) == ([ErrorCode.NONE], {})


async def test_another_epoch_of_the_same_leader_changes_nothing(leader: Partition) -> None:
    answers: list[ErrorCode] = []
    AckWatchers().add(leader, REPLICATED, 0, 60, answers.append)
    leader.apply(state(2, leader=1), NOW_MS)
    assert answers == []
    leader.apply(state(3, leader=1, isr=(1,)), NOW_MS)  # the follower has left
    assert answers == [ErrorCode.NONE]


async def test_a_broker_that_leads_no_more_says_so_once_also_to_who_comes_later(
    leader: Partition,
) -> None:
    acks = AckWatchers()
    answers: list[ErrorCode] = []
    acks.add(leader, REPLICATED, 0, 60, answers.append)
    leader.apply(state(2, leader=2), NOW_MS)
    leader.apply(state(3, leader=1), NOW_MS)
    assert answers == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    leader.resign()
    acks.add(leader, REPLICATED, 0, 60, answers.append)
    assert answers == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 2
    assert leader.listeners == {}


async def test_a_deadline_that_comes_before_the_others_is_kept(leader: Partition) -> None:
    acks = AckWatchers()
    done: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
    answers: list[ErrorCode] = []
    acks.add(leader, REPLICATED, 0, 60, answers.append)
    acks.add(leader, REPLICATED, 0, 0.01, done.set_result)
    assert await asyncio.wait_for(done, 10) is ErrorCode.REQUEST_TIMED_OUT
    assert (answers, len(leader.listeners)) == ([], 1)


async def test_nothing_is_left_of_who_has_left(leader: Partition) -> None:
    answers: list[ErrorCode] = []
    leave = AckWatchers().add(leader, REPLICATED, 0, 60, answers.append)
    leave()
    assert leader.listeners == {}
    leave()
    leader.record_fetch(2, 1, NOW_MS)
    assert answers == []
