"""The partition core, with simulated replicas on real logs."""

from pathlib import Path
from uuid import UUID

import pytest

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.replication.partition import HIGH_WATERMARK, Follower, Partition
from tests.brokerd.log.support import NOW_MS, batch, open_log, records
from tests.brokerd.replication.support import apply_all, fetch, reconcile, replica, state


def test_a_single_replica_is_its_own_quorum(tmp_path: Path) -> None:
    only = replica(tmp_path, 1)
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)), NOW_MS)
    only.append([batch(3)], NOW_MS)
    assert (only.high_watermark, only.log.log_end_offset, only.messages_in) == (3, 3, 3)
    assert only.bytes_in == len(batch(3))


def test_a_record_is_visible_when_all_in_sync_replicas_have_it(tmp_path: Path) -> None:
    leader, follower = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), leader, follower)
    leader.append([batch(3)], NOW_MS)
    assert leader.high_watermark == 0
    fetch(follower, leader)
    assert (follower.log.log_end_offset, leader.high_watermark) == (3, 0)
    fetch(follower, leader)
    assert leader.high_watermark == 3
    assert follower.high_watermark == 3
    assert records(follower.log) == records(leader.log)


def test_a_replica_that_is_not_in_sync_is_not_waited_for(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1,)), NOW_MS)
    leader.append([batch(3)], NOW_MS)
    assert leader.high_watermark == 3


def test_a_shrink_not_yet_agreed_does_not_move_the_high_watermark(tmp_path: Path) -> None:
    leader, follower = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), leader, follower)
    leader.append([batch(3)], NOW_MS)
    leader.propose_isr((1,))
    assert leader.high_watermark == 0
    leader.apply(state(2, leader=1, leader_epoch=1, isr=(1,)), NOW_MS)
    assert leader.high_watermark == 3


def test_an_expansion_counts_as_soon_as_it_is_asked_for(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1,)), NOW_MS)
    leader.propose_isr((1, 2))
    leader.append([batch()], NOW_MS)
    assert leader.high_watermark == 0
    leader.record_fetch(2, 1, NOW_MS)
    assert leader.high_watermark == 1


def test_below_min_isr_nothing_becomes_visible(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1, LogConfig(min_insync_replicas=2))
    leader.apply(state(1, leader=1, isr=(1,)), NOW_MS)
    leader.append([batch()], NOW_MS)
    assert leader.is_under_min_isr
    assert leader.high_watermark == 0
    leader.apply(state(2, leader=1, leader_epoch=1), NOW_MS)
    leader.record_fetch(2, 1, NOW_MS)
    assert leader.high_watermark == 1


def test_min_isr_asks_for_no_more_replicas_than_there_are(tmp_path: Path) -> None:
    only = replica(tmp_path, 1, LogConfig(min_insync_replicas=2))
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)), NOW_MS)
    only.append([batch()], NOW_MS)
    assert not only.is_under_min_isr
    assert only.high_watermark == 1


def test_a_replica_that_a_reassignment_adds_does_not_count_as_out_of_sync(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1,)), NOW_MS)
    assert leader.is_under_replicated
    assert leader.is_at_min_isr
    assert not leader.is_reassigning
    leader.apply(state(2, leader=1, isr=(1,), adding=(2,)), NOW_MS)
    assert not leader.is_under_replicated
    assert leader.is_reassigning


def test_only_the_leader_takes_records_and_fetches(tmp_path: Path) -> None:
    follower = replica(tmp_path, 2)
    follower.apply(state(1, leader=1), NOW_MS)
    for forbidden in (
        lambda: follower.append([batch()], NOW_MS),
        lambda: follower.record_fetch(1, 0, NOW_MS),
        follower.require_leader,
    ):
        with pytest.raises(KafkaError) as caught:
            forbidden()
        assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_broker_without_a_replica_is_told_so(tmp_path: Path) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1), NOW_MS)
    with pytest.raises(KafkaError) as caught:
        leader.record_fetch(3, 0, NOW_MS)
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_states_that_are_old_or_of_another_topic_are_passed_over(tmp_path: Path) -> None:
    partition = replica(tmp_path, 1)
    assert partition.apply(state(3, leader=1), NOW_MS)
    assert not partition.apply(state(3, leader=2), NOW_MS)
    assert not partition.apply(state(2, leader=2), NOW_MS)
    assert not partition.apply(state(9, leader=2, topic_id=UUID(int=1)), NOW_MS)
    assert (partition.is_leader, partition.leader_epoch) == (True, 3)


def test_listeners_hear_of_every_move_and_may_leave_while_called(tmp_path: Path) -> None:
    partition = replica(tmp_path, 1)
    heard: list[tuple[int, bool]] = []

    def listen(moved: Partition) -> None:
        heard.append((moved.log.log_end_offset, moved.is_leader))
        if moved.log.log_end_offset == 2:
            del moved.listeners[listen]

    partition.listeners[listen] = None
    partition.apply(state(1, leader=1, isr=(1,)), NOW_MS)
    partition.append([batch()], NOW_MS)
    partition.resign()
    partition.apply(state(2, leader=1, isr=(1,)), NOW_MS)
    partition.append([batch()], NOW_MS)
    partition.append([batch()], NOW_MS)
    assert heard == [(0, True), (1, True), (1, False), (1, True), (2, True)]


def test_listeners_are_not_woken_where_the_high_watermark_stays(tmp_path: Path) -> None:
    one, two = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), one, two)
    heard: list[int] = []
    one.listeners[lambda moved: heard.append(moved.high_watermark)] = None
    one.append([batch(3)], NOW_MS)
    one.advance()
    assert heard == []
    fetch(two, one)
    fetch(two, one)
    assert heard == [3]


def test_a_diverged_log_is_cut_to_where_it_agrees(tmp_path: Path) -> None:
    one, two = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), one, two)
    one.append([batch(3)], NOW_MS)
    fetch(two, one)
    fetch(two, one)
    one.append([batch(size=1), batch(size=2)], NOW_MS)  # never reached broker 2
    apply_all(state(2, leader=2, isr=(2,)), one, two)
    two.append([batch(size=3)], NOW_MS)
    assert reconcile(one, two) == 1
    assert one.log.log_end_offset == 3
    fetch(one, two)
    assert records(one.log) == records(two.log)
    assert one.log.epochs.entries == two.log.epochs.entries == [(1, 0), (2, 3)]


def test_logs_that_parted_twice_are_reconciled_in_steps(tmp_path: Path) -> None:
    one, two = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), one, two)
    one.append([batch(4)], NOW_MS)
    fetch(two, one)
    alone = {"isr": (1,)}
    for version, author in ((2, one), (3, two), (4, one), (5, two)):
        author.apply(state(version, leader=author.local_id, **alone), NOW_MS)
        author.append([batch(version)], NOW_MS)
    apply_all(state(6, leader=2), one, two)
    two.append([batch()], NOW_MS)
    assert reconcile(one, two) > 1
    fetch(one, two)
    assert records(one.log) == records(two.log)


def test_an_answer_of_an_older_leader_is_not_appended(tmp_path: Path) -> None:
    one, two = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), one, two)
    one.append([batch()], NOW_MS)
    two.apply(state(2, leader=1), NOW_MS)
    with pytest.raises(KafkaError) as caught:
        fetch(two, one)
    assert caught.value.code is ErrorCode.FENCED_LEADER_EPOCH
    assert two.log.log_end_offset == 0


def test_bytes_damaged_on_the_way_are_not_appended(tmp_path: Path) -> None:
    follower = replica(tmp_path, 2)
    follower.apply(state(1, leader=1), NOW_MS)
    good, bad = batch(), batch()
    bad[-1] ^= 1
    with pytest.raises(KafkaError) as caught:
        follower.append_fetched(memoryview(bytearray(bytes(good) + bytes(bad))), 1, 0, NOW_MS)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert follower.log.log_end_offset == 0


def test_a_follower_that_keeps_up_with_the_last_fetch_counts_as_caught_up() -> None:
    follower = Follower(NOW_MS)
    follower.fetched(0, 5, NOW_MS + 10)
    follower.fetched(5, 10, NOW_MS + 20)
    assert (follower.log_end_offset, follower.caught_up_ms) == (5, NOW_MS + 10)
    follower.fetched(10, 10, NOW_MS + 30)
    assert follower.caught_up_ms == NOW_MS + 30


def test_the_high_watermark_survives_a_change_of_leader(tmp_path: Path) -> None:
    one, two = replica(tmp_path, 1), replica(tmp_path, 2)
    apply_all(state(1, leader=1), one, two)
    one.append([batch(3)], NOW_MS)
    for _ in range(3):
        fetch(two, one)
    apply_all(state(2, leader=2), one, two)
    assert (one.high_watermark, two.high_watermark) == (3, 3)
    two.append([batch()], NOW_MS)
    assert two.high_watermark == 3
    fetch(one, two)
    fetch(one, two)
    assert (one.high_watermark, two.high_watermark) == (4, 4)


def test_the_current_epoch_ends_at_the_log_end_even_before_its_first_record(
    tmp_path: Path,
) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1), NOW_MS)
    leader.append([batch(3)], NOW_MS)
    leader.apply(state(4, leader=1), NOW_MS)
    assert leader.end_offset_for_epoch(4) == (4, 3)
    assert leader.end_offset_for_epoch(2) == (1, 3)
    assert leader.end_offset_for_epoch(5) == (-1, -1)


def test_records_are_deleted_up_to_the_high_watermark_and_waiting_readers_are_told(
    tmp_path: Path,
) -> None:
    leader = replica(tmp_path, 1)
    leader.apply(state(1, leader=1, isr=(1, 2)), NOW_MS)
    leader.append([batch(3)], NOW_MS)
    leader.record_fetch(2, 2, NOW_MS)
    told: list[int] = []
    leader.listeners[lambda partition: told.append(partition.log.log_start_offset)] = None
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
    follower.apply(state(1, leader=1), NOW_MS)
    with pytest.raises(KafkaError) as caught:
        follower.delete_records(0)
    assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    compacted = replica(tmp_path, 1, LogConfig(cleanup_policy=("compact",)))
    compacted.apply(state(1, leader=1), NOW_MS)
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
    only.apply(state(1, leader=1, replicas=(1,), isr=(1,)), NOW_MS)
    heard: list[int] = []
    only.listeners[lambda partition: heard.append(partition.high_watermark)] = None
    before = torn.local.truncations
    assert only.last_stable_offset == 3
    assert (only.log.log_end_offset, only.high_watermark, torn.high_watermark) == (3, 3, 3)
    assert heard == [3]
    assert torn.local.truncations == before + 1
