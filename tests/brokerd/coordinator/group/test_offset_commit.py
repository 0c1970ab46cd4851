"""OffsetCommit: who may commit, when a commit becomes visible, what survives."""

import pytest

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group.messages import OffsetToCommit
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, Bench

AT_10 = OffsetToCommit("t", 0, 10)
AT_20 = OffsetToCommit("t", 0, 20)
OTHER_TOPIC = OffsetToCommit("u", 3, 5)
OK = [ErrorCode.NONE]
CHECK_MS = GroupCoordinatorConfig().offsets_retention_check_ms


def test_an_outsider_commits_to_a_group_without_members() -> None:
    bench = Bench()
    assert bench.commit(AT_10, OTHER_TOPIC) == OK * 2
    assert (bench.offset(), bench.offset("u", 3), bench.offset("t", 1)) == (10, 5, None)
    assert bench.core.offsets(GROUP, None).keys() == {("t", 0), ("u", 3)}
    assert bench.state() == "Empty"


def test_a_commit_is_visible_only_once_the_high_watermark_has_passed_it() -> None:
    bench = Bench(hold_writes=True)
    ticket = bench.send_commit(AT_10)
    assert (bench.offset(), ticket in bench.replies) == (None, False)
    bench.release()
    assert bench.offset() == 10
    assert list(bench.replies[ticket].errors.values()) == OK


def test_a_commit_that_failed_leaves_no_trace() -> None:
    bench = Bench(hold_writes=True)
    ticket = bench.send_commit(AT_10)
    bench.release(ErrorCode.NOT_COORDINATOR)
    assert list(bench.replies[ticket].errors.values()) == [ErrorCode.NOT_COORDINATOR]
    assert bench.offset() is None
    bench.restart()
    assert bench.offset() is None


def test_a_commit_that_took_too_long_is_refused_but_counts_when_it_is_safe() -> None:
    bench = Bench(hold_writes=True)
    ticket = bench.send_commit(AT_10)
    error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    bench.take(bench.core.write_timed_out(bench.held[0].write_id, error, bench.clock.now_ms()))
    assert list(bench.replies[ticket].errors.values()) == [error]
    assert bench.offset() is None
    bench.release()
    assert bench.offset() == 10


def test_metadata_is_kept_and_too_much_of_it_refused_for_that_partition_alone() -> None:
    bench = Bench()
    note = OffsetToCommit("t", 0, 10, 4, "note")
    long = OffsetToCommit("t", 1, 10, metadata="x" * 4097)
    assert bench.commit(note, long) == [ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE]
    value = bench.core.offsets(GROUP, [("t", 0)])["t", 0]
    assert value is not None
    assert (value.metadata, value.leader_epoch) == ("note", 4)
    assert bench.commit(long) == [ErrorCode.OFFSET_METADATA_TOO_LARGE]


def test_a_commit_of_which_every_partition_is_refused_founds_no_group() -> None:
    bench = Bench()
    long = OffsetToCommit("t", 1, 10, metadata="x" * 4097)
    assert bench.commit(long) == [ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert [*bench.core.listings()] == []


def test_a_member_commits_in_its_generation() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    assert bench.commit(AT_10, member_id=member.member_id, generation=1) == OK


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 1, "member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 1, "member_id": ""}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 9}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation": 9, "of_the_member": True}, ErrorCode.ILLEGAL_GENERATION),
        ({"generation": 1, "instance_id": "x", "of_the_member": True}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_commit_that_does_not_fit_a_live_group_is_refused(
    fields: dict[str, object], error: ErrorCode
) -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    if fields.get("of_the_member"):
        fields = {k: v for k, v in fields.items() if k != "of_the_member"}
        fields["member_id"] = member.member_id
    assert bench.commit(AT_10, **fields) == [error]


def test_a_member_of_an_unknown_group_may_not_commit() -> None:
    assert Bench().commit(AT_10, generation=3, member_id="m") == [ErrorCode.ILLEGAL_GENERATION]


def test_commits_pass_while_a_rebalance_is_prepared_but_not_between_join_and_sync() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2)
    bench.send_join(leader.member_id)
    assert bench.commit(AT_10, member_id=follower.member_id, generation=1) == OK
    again = bench.join(follower.member_id)
    assert again is not None
    mine = {"member_id": follower.member_id, "generation": 2}
    assert bench.commit(AT_10, **mine) == [ErrorCode.REBALANCE_IN_PROGRESS]


def test_a_commit_keeps_a_member_alive() -> None:
    bench = Bench()
    member = bench.stable_group(session_timeout_ms=10_000)[0]
    for _ in range(3):
        bench.pass_time(9_000)
        assert bench.commit(AT_10, member_id=member.member_id, generation=1) == OK


def test_offsets_and_groups_survive_a_restart() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2)
    bench.commit(AT_10, member_id=leader.member_id, generation=1)
    bench.commit(AT_20, member_id=leader.member_id, generation=1)
    before = bench.core.describe(GROUP)
    bench.restart()
    assert bench.offset() == 20
    assert bench.core.describe(GROUP) == before
    for member in (leader, follower):
        assert bench.heartbeat(member) is ErrorCode.NONE
    bench.pass_time(10_000)
    assert bench.state() == "Empty"


def test_a_group_that_grew_too_large_for_the_settings_rebalances_on_load() -> None:
    bench = Bench()
    bench.stable_group(2)
    bench.config = GroupCoordinatorConfig(size_max=1)
    bench.restart()
    assert bench.state() == "PreparingRebalance"
