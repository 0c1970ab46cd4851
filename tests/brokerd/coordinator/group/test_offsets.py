"""Commits: who may, when they become visible, what survives; removal."""

import pytest

from brokerd.config.group_config import GroupConfig
from brokerd.coordinator.group import offsets
from brokerd.coordinator.group.messages import LeavingMember, OffsetToCommit
from brokerd.coordinator.group.records import GroupRecord, OffsetRecord
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, RANGE, Bench

AT_10 = OffsetToCommit("t", 0, 10)
AT_20 = OffsetToCommit("t", 0, 20)
OTHER_TOPIC = OffsetToCommit("u", 3, 5)
OK = [ErrorCode.NONE]
CHECK_MS = GroupConfig().offsets_retention_check_ms


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
    bench.config = GroupConfig(size_max=1)
    bench.restart()
    assert bench.state() == "PreparingRebalance"


def test_an_empty_group_is_deleted_with_its_offsets() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    bench.commit(AT_10, member_id=member.member_id, generation=1)
    assert bench.delete() is ErrorCode.NON_EMPTY_GROUP
    bench.leave(LeavingMember(member.member_id))
    assert bench.delete() is ErrorCode.NONE
    assert (bench.offset(), bench.state()) == (None, "Dead")
    assert bench.records()[-2:] == [OffsetRecord(GROUP, "t", 0, None), GroupRecord(GROUP, None)]
    assert bench.delete() is ErrorCode.GROUP_ID_NOT_FOUND
    bench.restart()
    assert list(bench.core.listings()) == []


def test_a_group_of_which_nothing_was_stored_is_deleted_at_once() -> None:
    bench = Bench()
    bench.commit(OffsetToCommit("t", 0, 10, metadata="x" * 4097))
    assert bench.state() == "Empty"
    assert bench.delete() is ErrorCode.NONE
    assert (bench.records(), bench.state()) == ([], "Dead")


def test_a_deletion_takes_commits_under_way_with_it() -> None:
    bench = Bench(hold_writes=True)
    bench.send_commit(AT_10)
    bench.delete()
    bench.release()
    assert bench.offset() is None


def test_a_deletion_that_failed_leaves_the_group_as_it_was() -> None:
    bench = Bench()
    bench.commit(AT_10)
    bench.hold_writes = True
    bench.delete()
    bench.release(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    assert (bench.offset(), bench.state()) == (10, "Empty")


def test_a_group_founded_while_its_former_self_is_being_deleted_lives_on() -> None:
    bench = Bench()
    bench.commit(AT_10)
    bench.hold_writes = True
    bench.delete()
    bench.send_join()
    bench.release()
    assert (bench.offset(), bench.state()) == (None, "PreparingRebalance")


def test_offsets_are_removed_but_of_topics_being_read() -> None:
    bench = Bench()
    member = bench.stable_group(protocols=RANGE)[0]
    mine = {"member_id": member.member_id, "generation": 1}
    bench.commit(AT_10, OTHER_TOPIC, **mine)
    assert bench.delete_offsets(("t", 0), ("u", 3), ("u", 4)) == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.NONE,
        ErrorCode.NONE,
    ]
    assert (bench.offset(), bench.offset("u", 3)) == (10, None)
    bench.leave(LeavingMember(member.member_id))
    assert bench.delete_offsets(("t", 0)) == OK
    assert (bench.offset(), bench.state()) == (None, "Dead")
    assert GroupRecord(GROUP, None) in bench.records()


def test_an_empty_group_goes_with_its_last_offset_as_long_as_nothing_is_under_way() -> None:
    bench = Bench()
    bench.commit(AT_10, OTHER_TOPIC)
    assert bench.delete_offsets(("t", 0)) == OK
    assert bench.state() == "Empty"
    bench.hold_writes = True
    ticket = bench.send_commit(AT_20)
    bench.handle(offsets.forget_topics, {"u"})
    assert bench.state() == "Empty"
    bench.release()
    assert list(bench.replies[ticket].errors.values()) == OK
    bench.hold_writes = False
    assert (bench.delete_offsets(("t", 0)), bench.state()) == (OK, "Dead")
    assert bench.delete_offsets(("t", 0)) == [ErrorCode.GROUP_ID_NOT_FOUND]
    bench.restart()
    assert bench.state() == "Dead"


def test_a_group_whose_removal_failed_is_still_there() -> None:
    bench = Bench()
    bench.commit(AT_10)
    bench.hold_writes = True
    bench.handle(offsets.forget_topics, {"t"})
    assert bench.state() == "Dead"
    bench.release(ErrorCode.NOT_COORDINATOR)
    assert (bench.state(), bench.offset()) == ("Empty", 10)


def test_offsets_of_an_unreadable_subscription_are_not_removed() -> None:
    bench = Bench()
    bench.stable_group(protocols=(("range", b"opaque"),))
    assert bench.delete_offsets(("u", 3)) == [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC]


def test_offsets_of_a_live_group_of_another_kind_are_not_removed() -> None:
    bench = Bench()
    bench.stable_group(protocol_type="connect")
    assert bench.delete_offsets(("u", 3)) == [ErrorCode.NON_EMPTY_GROUP]


def test_offsets_of_an_unknown_group_cannot_be_removed() -> None:
    assert Bench().delete_offsets(("u", 3)) == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_the_offsets_of_a_deleted_topic_go_with_it() -> None:
    bench = Bench()
    bench.commit(AT_10, OTHER_TOPIC)
    bench.handle(offsets.forget_topics, {"t"})
    assert (bench.offset(), bench.offset("u", 3)) == (None, 5)
    bench.handle(offsets.forget_topics, {"u"})
    assert (bench.offset("u", 3), bench.state()) == (None, "Dead")


def test_topics_that_are_deleted_together_are_forgotten_by_one_write_for_all_groups() -> None:
    bench = Bench()
    bench.commit(AT_10, OTHER_TOPIC)
    bench.hold_writes = True
    effects = bench.core.handle(
        bench.clock.now_ms(), offsets.forget_topics, {"t", "u", "of which nobody read"}
    )
    (write,) = effects.writes
    assert len(write.records) == 2
    bench.take(effects)
    bench.release()
    assert (bench.offset(), bench.offset("u", 3), bench.state()) == (None, None, "Dead")


def test_a_group_nobody_joined_in_the_end_is_forgotten() -> None:
    bench = Bench()
    bench.join(needs_known_member_id=True)
    assert bench.state() == "Empty"
    bench.pass_time(2 * CHECK_MS)
    assert bench.state() == "Dead"
    assert bench.log == []
