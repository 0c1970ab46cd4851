"""Offsets whose time is over: which go, when, and in how many slices."""

import pytest

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import group_metadata
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.messages import LeavingMember, OffsetToCommit
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, Bench

AT_10 = OffsetToCommit("t", 0, 10)
AT_20 = OffsetToCommit("t", 0, 20)
OTHER_TOPIC = OffsetToCommit("u", 3, 5)
WEEK_MS = GroupCoordinatorConfig().offsets_retention_ms
CHECK_MS = GroupCoordinatorConfig().offsets_retention_check_ms


def left_by_a_sweep(bench: Bench, slices: int) -> list[tuple[int, int]]:
    """After each slice of the next sweep: how many groups, and offsets of GROUP, there are."""
    bench.clock.advance(CHECK_MS)
    left = []
    for _ in range(slices):
        bench.take(bench.core.tick(bench.clock.now_ms()))
        left.append((len(list(bench.core.listings())), len(bench.core.offsets(GROUP, None))))
    return left


def test_a_standalone_consumers_offsets_expire_after_their_commit() -> None:
    bench = Bench()
    bench.commit(AT_10)
    bench.pass_time(WEEK_MS // 2)
    bench.commit(OTHER_TOPIC)
    bench.pass_time(WEEK_MS // 2 + CHECK_MS)
    assert (bench.offset(), bench.offset("u", 3)) == (None, 5)
    bench.pass_time(WEEK_MS // 2 + CHECK_MS)
    assert (bench.offset("u", 3), bench.state()) == (None, "Dead")


def test_a_groups_offsets_expire_after_it_became_empty() -> None:
    bench = Bench()
    member = bench.stable_group(session_timeout_ms=1_800_000)[0]
    mine = {"member_id": member.member_id, "generation": 1}
    bench.commit(AT_10, **mine)
    for _ in range(WEEK_MS // 1_700_000 + 1):
        bench.pass_time(1_700_000)
        assert bench.heartbeat(member) is ErrorCode.NONE
    assert bench.offset() == 10
    bench.leave(LeavingMember(member.member_id))
    bench.pass_time(WEEK_MS - CHECK_MS)
    assert bench.offset() == 10
    bench.pass_time(2 * CHECK_MS)
    assert (bench.offset(), bench.state()) == (None, "Dead")
    assert bench.records()[-1] == GroupRecord(GROUP, None)


def test_a_stable_groups_offsets_of_topics_it_left_expire() -> None:
    bench = Bench(GroupCoordinatorConfig(offsets_retention_ms=600_000))
    member = bench.stable_group(session_timeout_ms=1_800_000)[0]
    bench.commit(AT_10, OTHER_TOPIC, member_id=member.member_id, generation=1)
    bench.pass_time(600_000 + CHECK_MS)
    assert (bench.offset(), bench.offset("u", 3)) == (10, None)


def test_a_commit_with_a_retention_of_its_own_expires_by_it() -> None:
    bench = Bench()
    bench.commit(AT_10, retention_ms=1_000)
    bench.commit(OTHER_TOPIC, retention_ms=2 * WEEK_MS)
    bench.restart()
    bench.pass_time(CHECK_MS)
    assert (bench.offset(), bench.offset("u", 3)) == (None, 5)
    bench.pass_time(WEEK_MS + CHECK_MS)
    assert bench.offset("u", 3) == 5


def test_an_offset_being_committed_anew_is_not_expired() -> None:
    bench = Bench()
    bench.commit(AT_10)
    bench.hold_writes = True
    bench.send_commit(AT_20)
    bench.pass_time(2 * WEEK_MS)
    bench.hold_writes = False
    bench.release()
    assert bench.offset() == 20


def test_a_sweep_of_many_groups_takes_many_slices() -> None:
    bench = Bench(GroupCoordinatorConfig(offsets_retention_ms=1_000))
    for number in range(120):
        bench.commit(AT_10, group_id=f"g{number}")
    assert [groups for groups, _ in left_by_a_sweep(bench, slices=4)] == [71, 22, 0, 0]


def test_a_sweep_of_many_offsets_takes_many_slices() -> None:
    bench = Bench(GroupCoordinatorConfig(offsets_retention_ms=1_000))
    for number in range(3):
        offsets = [OffsetToCommit("t", partition, 10) for partition in range(1_500)]
        bench.commit(*offsets, group_id=f"g{number}")
    assert [groups for groups, _ in left_by_a_sweep(bench, slices=2)] == [1, 0]


def test_the_offsets_of_one_large_group_go_in_many_slices_and_it_goes_with_the_last() -> None:
    bench = Bench(GroupCoordinatorConfig(offsets_retention_ms=1_000))
    bench.commit(*(OffsetToCommit("t", partition, 10) for partition in range(4_500)))
    assert left_by_a_sweep(bench, slices=3) == [(1, 2_500), (1, 500), (0, 0)]


def test_what_a_stable_group_reads_is_found_once_for_all_its_offsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Group] = []
    find = Group.subscribed_topics

    def found_of(group: Group) -> frozenset[str] | None:
        found.append(group)
        return find(group)

    monkeypatch.setattr(Group, "subscribed_topics", found_of)
    bench = Bench()
    member = bench.stable_group(session_timeout_ms=1_800_000)[0]
    bench.commit(AT_10, OTHER_TOPIC, member_id=member.member_id, generation=1)
    left_by_a_sweep(bench, slices=1)
    assert len(found) == 1


def test_what_many_members_subscribe_to_alike_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[bytes] = []
    real = group_metadata._topics_of

    def read_of(subscription: bytes) -> set[str] | None:
        read.append(subscription)
        return real(subscription)

    monkeypatch.setattr(group_metadata, "_topics_of", read_of)
    bench = Bench()
    bench.stable_group(3, session_timeout_ms=1_800_000)
    left_by_a_sweep(bench, slices=1)
    assert len(read) == 1


def test_a_group_nobody_joined_in_the_end_is_forgotten() -> None:
    bench = Bench()
    bench.join(needs_known_member_id=True)
    assert bench.state() == "Empty"
    bench.pass_time(2 * CHECK_MS)
    assert bench.state() == "Dead"
    assert bench.log == []
