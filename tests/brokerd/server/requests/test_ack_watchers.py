"""Acknowledgements: each is answered once, in the order of offsets; queues of them follow real
partitions."""

import asyncio
from pathlib import Path

import pytest

from brokerd.errors import ErrorCode
from brokerd.replication.partition import Partition
from brokerd.server.requests.ack_watchers import REPLICATED, WAITS, Ack, AckQueue, AckWatchers
from tests.brokerd.log.support import NOW_MS, batch
from tests.brokerd.replication.support import replica, state

OK, TIMED_OUT = ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT
NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER


class Owed:
    """A queue, and what was answered so far: (last offset, error)."""

    def __init__(self, *offsets_and_deadlines: tuple[int, float]) -> None:
        self.queue = AckQueue()
        self.answers: list[tuple[int, ErrorCode]] = []
        self.acks = [self.add(*each) for each in offsets_and_deadlines]

    def add(self, last_offset: int, deadline_s: float, outcome: object = None) -> Ack:
        def answer(error: ErrorCode) -> object:
            self.answers.append((last_offset, error))
            return outcome

        return self.queue.add(last_offset, deadline_s, answer)


def test_those_below_the_high_watermark_are_answered_in_the_order_of_offsets() -> None:
    owed = Owed((4, 9), (9, 9), (6, 9), (4, 9))  # the third took longer in another partition
    owed.queue.advance(4)
    assert owed.answers == []
    owed.queue.advance(7)
    assert owed.answers == [(4, OK), (4, OK), (6, OK)]
    owed.queue.advance(10)
    assert owed.answers[3:] == [(9, OK)]
    assert (len(owed.queue), owed.queue.next_deadline_s) == (0, None)


def test_a_broker_that_leads_no_more_answers_all_in_their_order() -> None:
    owed = Owed((4, 9), (9, 1), (6, 5))
    owed.queue.resign()
    assert owed.answers == [(4, NOT_LEADER), (6, NOT_LEADER), (9, NOT_LEADER)]
    assert (len(owed.queue), owed.queue.next_deadline_s) == (0, None)


def test_each_has_its_own_deadline() -> None:
    owed = Owed((4, 30), (9, 1), (6, 5), (7, 5))
    assert owed.queue.next_deadline_s == 1
    owed.queue.expire(0.9)
    assert owed.answers == []
    owed.queue.expire(5)
    assert owed.answers == [(9, TIMED_OUT), (6, TIMED_OUT), (7, TIMED_OUT)]
    assert owed.queue.next_deadline_s == 30
    owed.queue.advance(10)
    assert owed.answers[3:] == [(4, OK)]


def test_one_that_waits_on_after_its_deadline_is_told_again() -> None:
    owed = Owed()
    owed.add(4, 1, WAITS)
    owed.queue.expire(2)
    assert (owed.answers, owed.queue.next_deadline_s) == ([(4, TIMED_OUT)], None)
    owed.queue.expire(3)
    owed.queue.advance(5)
    assert owed.answers == [(4, TIMED_OUT), (4, OK)]


def test_who_has_left_is_not_answered() -> None:
    owed = Owed((4, 9), (4, 9), (6, 1))
    owed.queue.remove(owed.acks[0])
    owed.queue.remove(owed.acks[2])
    owed.queue.remove(owed.acks[2])
    owed.queue.expire(5)
    owed.queue.advance(10)
    assert owed.answers == [(4, OK)]


def test_an_answer_may_add_another() -> None:
    owed = Owed()
    owed.queue.add(1, 9, lambda _: owed.add(2, 9))
    owed.queue.advance(5)
    assert owed.answers == [(2, OK)]


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
