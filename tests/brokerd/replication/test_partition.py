"""The partition core, with simulated replicas on real logs."""

from pathlib import Path
from uuid import UUID

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.replication.partition import HIGH_WATERMARK, Partition
from tests.brokerd.log.support import NOW_MS, batch, open_log
from tests.brokerd.replication.support import replica, state


def test_a_single_replica_is_its_own_quorum(tmp_path: Path) -> None:
    only = replica(tmp_path, 1)
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)))
    only.append([batch(3)], NOW_MS)
    assert (only.high_watermark, only.log_end_offset, only.messages_in) == (3, 3, 3)
    assert only.bytes_in == len(batch(3))


def test_a_record_is_visible_when_all_in_sync_replicas_have_it(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1))
    leader.append([batch(3)], NOW_MS)
    assert leader.high_watermark == 0
    leader.record_fetch(2, 0)
    assert leader.high_watermark == 0
    leader.record_fetch(2, 3)
    assert leader.high_watermark == 3
    leader.apply(state(2, leader=2))
    assert leader.high_watermark == 3


def test_a_replica_that_is_not_in_sync_is_not_waited_for(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1,)))
    leader.append([batch(3)], NOW_MS)
    assert leader.high_watermark == 3


def test_below_min_isr_nothing_becomes_visible(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1, LogConfig(min_insync_replicas=2))
    leader.apply(state(1, leader=1, isr=(1,)))
    leader.append([batch()], NOW_MS)
    assert leader.is_under_min_isr
    assert leader.high_watermark == 0
    leader.apply(state(2, leader=1, leader_epoch=1))
    leader.record_fetch(2, 1)
    assert leader.high_watermark == 1


def test_min_isr_asks_for_no_more_replicas_than_there_are(tmp_path: Path) -> None:
    only = replica(tmp_path, 1, LogConfig(min_insync_replicas=2))
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)))
    only.append([batch()], NOW_MS)
    assert not only.is_under_min_isr
    assert only.high_watermark == 1


def test_only_the_leader_takes_records_and_fetches(tmp_path: Path) -> None:
    follower = replica(tmp_path, 2)
    follower.apply(state(1, leader=1))
    for forbidden in (
        lambda: follower.append([batch()], NOW_MS),
        lambda: follower.record_fetch(1, 0),
        follower.require_leader,
    ):
        with pytest.raises(KafkaError) as caught:
            forbidden()
        assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_states_that_are_old_or_of_another_topic_are_passed_over(tmp_path: Path) -> None:
    partition = replica(tmp_path, 1)
    assert partition.apply(state(3, leader=1))
    assert not partition.apply(state(3, leader=2))
    assert not partition.apply(state(2, leader=2))
    assert not partition.apply(state(9, leader=2, topic_id=UUID(int=1)))
    assert (partition.is_leader, partition.leader_epoch) == (True, 3)


def test_listeners_hear_of_every_move_and_may_leave_while_called(tmp_path: Path) -> None:
    partition = replica(tmp_path, 1)
    heard: list[tuple[int, bool]] = []

    def listen(moved: Partition) -> None:
        heard.append((moved.log_end_offset, moved.is_leader))
        if moved.log_end_offset == 2:
            del moved.listeners[listen]

    partition.listeners[listen] = None
    partition.apply(state(1, leader=1, isr=(1,)))
    partition.append([batch()], NOW_MS)
    partition.resign()
    partition.apply(state(2, leader=1, isr=(1,)))
    partition.append([batch()], NOW_MS)
    partition.append([batch()], NOW_MS)
    assert heard == [(0, True), (1, True), (1, False), (1, True), (2, True)]


def test_listeners_are_not_woken_where_the_high_watermark_stays(tmp_path: Path) -> None:
    one = replica(tmp_path, 1)
    one.apply(state(1, leader=1))
    heard: list[int] = []
    one.listeners[lambda moved: heard.append(moved.high_watermark)] = None
    one.append([batch(3)], NOW_MS)
    one.advance()
    one.record_fetch(2, 0)
    assert heard == []
    one.record_fetch(2, 3)
    assert heard == [3]


def test_the_current_epoch_ends_at_the_log_end_even_before_its_first_record(
    tmp_path: Path,
) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1))
    leader.append([batch(3)], NOW_MS)
    leader.apply(state(4, leader=1))
    assert leader.end_offset_for_epoch(4) == (4, 3)
    assert leader.end_offset_for_epoch(2) == (1, 3)
    assert leader.end_offset_for_epoch(5) == (-1, -1)


def test_records_are_deleted_up_to_the_high_watermark_and_waiting_readers_are_told(
    tmp_path: Path,
) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1, 2)))
    leader.append([batch(3)], NOW_MS)
    leader.record_fetch(2, 2)
    told: list[int] = []
    leader.listeners[lambda partition: told.append(partition.log_start_offset)] = None
    for offset in (3, -2):
        with pytest.raises(KafkaError) as caught:
            leader.delete_records(offset)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert leader.delete_records(1) == 1
    assert leader.delete_records(HIGH_WATERMARK) == 2
    assert leader.delete_records(0) == 2
    assert told == [1, 2]


def test_only_a_leader_deletes_records_and_only_where_the_policy_lets_it(tmp_path: Path) -> None:
    follower = replica(tmp_path, 2)
    follower.apply(state(1, leader=1))
    with pytest.raises(KafkaError) as caught:
        follower.delete_records(0)
    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    compacted = replica(tmp_path, 1, LogConfig(cleanup_policy=("compact",)))
    compacted.apply(state(1, leader=1))
    with pytest.raises(KafkaError) as caught:
        compacted.delete_records(0)
    assert caught.value.code is ErrorCode.POLICY_VIOLATION


def test_the_high_watermark_follows_a_log_that_its_first_use_cuts(tmp_path: Path) -> None:
    log = open_log(tmp_path / "1")
    log.append([batch(3)], 0, NOW_MS)
    log.append([batch(4)], 0, NOW_MS)
    log.close()
    (path,) = (tmp_path / "1").glob("*.log")
    path.write_bytes(path.read_bytes()[:-1])
    torn = open_log(tmp_path / "1", recovery_point=7)
    only = Partition("t", 0, 1, torn, 7)
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)))
    heard: list[int] = []
    only.listeners[lambda partition: heard.append(partition.high_watermark)] = None
    assert only.last_stable_offset == 3
    assert (only.log_end_offset, only.high_watermark, torn.high_watermark) == (3, 3, 3)
    assert heard == [3]
