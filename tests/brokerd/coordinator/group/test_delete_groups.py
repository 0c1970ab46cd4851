"""Offsets and groups that are removed: by request, with their topic, with the last offset."""

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import delete_groups
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord, OffsetRecord
from brokerd.coordinator.group.messages import LeavingMember, OffsetToCommit
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, RANGE, Bench

AT_10 = OffsetToCommit("t", 0, 10)
AT_20 = OffsetToCommit("t", 0, 20)
OTHER_TOPIC = OffsetToCommit("u", 3, 5)
OK = [ErrorCode.NONE]
CHECK_MS = GroupCoordinatorConfig().offsets_retention_check_ms


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
    bench = Bench(hold_writes=True)
    bench.send_commit(AT_10)
    bench.release(ErrorCode.COORDINATOR_NOT_AVAILABLE)
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
    bench.handle(delete_groups.forget_topics, {"u"})
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
    bench.handle(delete_groups.forget_topics, {"t"})
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
    bench.handle(delete_groups.forget_topics, {"t"})
    assert (bench.offset(), bench.offset("u", 3)) == (None, 5)
    bench.handle(delete_groups.forget_topics, {"u"})
    assert (bench.offset("u", 3), bench.state()) == (None, "Dead")


def test_topics_that_are_deleted_together_are_forgotten_by_one_write_for_all_groups() -> None:
    bench = Bench()
    bench.commit(AT_10, OTHER_TOPIC)
    bench.hold_writes = True
    effects = bench.core.handle(
        bench.clock.now_ms(), delete_groups.forget_topics, {"t", "u", "of which nobody read"}
    )
    (write,) = effects.writes
    assert len(write.records) == 2
    bench.take(effects)
    bench.release()
    assert (bench.offset(), bench.offset("u", 3), bench.state()) == (None, None, "Dead")
