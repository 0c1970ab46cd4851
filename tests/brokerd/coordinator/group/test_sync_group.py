"""SyncGroup, Heartbeat, LeaveGroup, and what befalls members that stay silent."""

import pytest

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.messages import JoinReply, LeavingMember
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, Bench

DELAY_MS = GroupCoordinatorConfig().initial_rebalance_delay_ms


def two_joined(bench: Bench) -> list[JoinReply]:
    tickets = [bench.send_join(session_timeout_ms=60_000) for _ in range(2)]
    bench.pass_time(2 * DELAY_MS)
    return sorted((bench.replies[t] for t in tickets), key=lambda r: r.member_id != r.leader)


def test_followers_wait_for_the_leaders_assignment() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    waiting = bench.send_sync(follower)
    assert waiting not in bench.replies
    reply = bench.sync(leader, {leader.member_id: b"L", follower.member_id: b"F"})
    assert reply is not None
    assert (reply.assignment, reply.protocol, reply.protocol_type) == (b"L", "range", "consumer")
    assert bench.replies[waiting].assignment == b"F"
    assert bench.state() == "Stable"


def test_a_member_left_out_of_the_assignment_gets_an_empty_one() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    waiting = bench.send_sync(follower)
    bench.sync(leader, {leader.member_id: b"L"})
    assert bench.replies[waiting].assignment == b""


def test_a_late_follower_gets_its_assignment_at_once() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    bench.sync(leader, {follower.member_id: b"F"})
    reply = bench.sync(follower)
    assert reply is not None
    assert reply.assignment == b"F"


def test_the_assignment_counts_only_once_its_record_is_safe() -> None:
    bench = Bench()
    leader, _ = two_joined(bench)
    bench.hold_writes = True
    ticket = bench.send_sync(leader, {leader.member_id: b"L"})
    assert ticket not in bench.replies
    assert bench.state() == "CompletingRebalance"
    bench.release()
    assert bench.replies[ticket].assignment == b"L"
    assert bench.state() == "Stable"


def test_an_assignment_that_could_not_be_written_starts_the_rebalance_over() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    bench.hold_writes = True
    tickets = [bench.send_sync(follower), bench.send_sync(leader, {leader.member_id: b"L"})]
    bench.release(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    errors = {bench.replies[ticket].error for ticket in tickets}
    assert errors == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    assert bench.state() == "PreparingRebalance"
    assert bench.log == []


def test_an_assignment_overtaken_by_a_rebalance_does_not_count() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    bench.hold_writes = True
    ticket = bench.send_sync(leader, {leader.member_id: b"L"})
    bench.leave(LeavingMember(follower.member_id))
    assert bench.replies[ticket].error is ErrorCode.REBALANCE_IN_PROGRESS
    bench.release()
    assert bench.state() == "PreparingRebalance"


def test_the_leaders_sync_writes_the_group_record() -> None:
    bench = Bench()
    leader = bench.stable_group()[0]
    record = bench.records()[-1]
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert (record.value.generation, record.value.leader) == (1, leader.member_id)
    member = record.value.members[0]
    assert (member.member_id, member.assignment) == (leader.member_id, leader.member_id.encode())
    assert (member.client_id, member.client_host) == ("client", "/127.0.0.1")


def test_a_second_sync_of_one_member_answers_the_first() -> None:
    bench = Bench()
    _, follower = two_joined(bench)
    stale = bench.send_sync(follower)
    bench.send_sync(follower)
    assert bench.replies[stale].error is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"generation": 7}, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"group_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"instance_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_sync_that_does_not_fit_is_refused(fields: dict[str, object], error: ErrorCode) -> None:
    bench = Bench()
    reply = bench.sync(bench.stable_group()[0], **fields)
    assert reply is not None
    assert reply.error is error


def test_members_that_never_sync_are_dropped_and_the_others_rebalance() -> None:
    bench = Bench()
    tickets = [
        bench.send_join(session_timeout_ms=60_000, rebalance_timeout_ms=20_000) for _ in range(2)
    ]
    bench.pass_time(2 * DELAY_MS)
    leader = next(r for r in map(bench.replies.get, tickets) if r.leader == r.member_id)
    bench.sync(leader, {})
    bench.pass_time(20_000)
    assert bench.state() == "PreparingRebalance"
    assert [m.member_id for m in bench.core.describe(GROUP).members] == [leader.member_id]


def test_a_heartbeat_keeps_a_member() -> None:
    bench = Bench()
    member = bench.stable_group(session_timeout_ms=10_000)[0]
    for _ in range(10):
        bench.pass_time(9_999)
        assert bench.heartbeat(member) is ErrorCode.NONE
    bench.pass_time(10_000)
    assert bench.heartbeat(member) is ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.state() == "Empty"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"generation": 7}, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"group_id": "other"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"instance_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_heartbeat_that_does_not_fit_is_refused(
    fields: dict[str, object], error: ErrorCode
) -> None:
    bench = Bench()
    assert bench.heartbeat(bench.stable_group()[0], **fields) is error


def test_a_heartbeat_between_join_and_sync_is_answered() -> None:
    bench = Bench()
    leader, _ = two_joined(bench)
    assert bench.heartbeat(leader) is ErrorCode.NONE


def test_a_crashed_member_makes_the_others_rebalance() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2, session_timeout_ms=10_000)
    bench.pass_time(6_000)
    bench.heartbeat(leader)
    bench.pass_time(6_000)
    assert bench.heartbeat(leader) is ErrorCode.REBALANCE_IN_PROGRESS
    again = bench.join(leader.member_id)
    assert again is not None
    assert [m.member_id for m in again.members] == [leader.member_id]
    assert follower.member_id != leader.member_id


def test_the_last_member_to_leave_empties_the_group_with_a_record() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    assert bench.leave(LeavingMember(member.member_id)) == (ErrorCode.NONE,)
    assert bench.state() == "Empty"
    record = bench.records()[-1]
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    assert (record.value.members, record.value.generation, record.value.leader) == ((), 2, None)


def test_a_leave_names_an_error_for_each_member() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    errors = bench.leave(
        LeavingMember("nobody"), LeavingMember(member.member_id), LeavingMember("", "no-instance")
    )
    assert errors == (
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
    )
    unknown = bench.leave(LeavingMember("x"), group_id="other")
    assert unknown == (ErrorCode.UNKNOWN_MEMBER_ID,)


def test_an_id_handed_out_can_be_given_back() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    pending = bench.join(needs_known_member_id=True)
    assert pending is not None
    again = bench.send_join(member.member_id)
    assert bench.leave(LeavingMember(pending.member_id)) == (ErrorCode.NONE,)
    assert again in bench.replies


def test_leaving_while_waiting_answers_the_wait() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2)
    waiting = bench.send_join(leader.member_id)
    bench.leave(LeavingMember(leader.member_id))
    assert bench.replies[waiting].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.join(follower.member_id) is not None


def test_whoever_waits_hears_of_a_resignation() -> None:
    bench = Bench()
    leader, follower = two_joined(bench)
    bench.hold_writes = True
    tickets = [
        bench.send_sync(follower),
        bench.send_sync(leader, {}),
        bench.send_join(group_id="other"),
    ]
    bench.take(bench.core.resign(bench.clock.now_ms()))
    assert {bench.replies[t].error for t in tickets} == {ErrorCode.NOT_COORDINATOR}
    assert bench.held[1:] == []
