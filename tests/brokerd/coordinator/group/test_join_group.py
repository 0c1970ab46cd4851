"""JoinGroup: new members, ids, the initial delay, members again, sizes and protocols."""

import pytest

from brokerd.config.group_coordinator_config import (
    NEW_MEMBER_JOIN_TIMEOUT_MS,
    PENDING_MEMBERS_MAX,
    GroupCoordinatorConfig,
)
from brokerd.coordinator.group.messages import LeavingMember
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, RANGE, Bench

DELAY_MS = GroupCoordinatorConfig().initial_rebalance_delay_ms
STICKY = (("sticky", b"s"),)


def test_the_first_member_waits_for_company_and_leads() -> None:
    bench = Bench()
    ticket = bench.send_join()
    bench.pass_time(DELAY_MS - 1)
    assert ticket not in bench.replies
    bench.pass_time(1)
    reply = bench.replies[ticket]
    assert (reply.error, reply.generation, reply.leader) == (0, 1, reply.member_id)
    assert reply.protocol == "range"
    assert [m.member_id for m in reply.members] == [reply.member_id]
    assert bench.state() == "CompletingRebalance"


def test_a_new_member_prolongs_the_initial_delay_up_to_the_rebalance_timeout() -> None:
    bench = Bench()
    first = bench.send_join(rebalance_timeout_ms=2 * DELAY_MS)
    bench.pass_time(DELAY_MS - 1)
    bench.send_join(rebalance_timeout_ms=2 * DELAY_MS)
    bench.pass_time(DELAY_MS - 1)
    bench.send_join(rebalance_timeout_ms=2 * DELAY_MS)
    assert first not in bench.replies
    bench.pass_time(2)
    assert len(bench.replies[first].members) == 3


def test_without_an_initial_delay_the_group_forms_at_once() -> None:
    bench = Bench(GroupCoordinatorConfig(initial_rebalance_delay_ms=0))
    ticket = bench.send_join()
    bench.pass_time(0)
    assert bench.replies[ticket].generation == 1


def test_only_the_leader_learns_of_the_members() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2)
    assert len(leader.members) == 2
    assert follower.members == ()
    assert follower.leader == leader.member_id


def test_a_new_client_must_come_again_with_the_id_it_was_given() -> None:
    bench = Bench()
    reply = bench.join(needs_known_member_id=True)
    assert reply is not None
    assert reply.error is ErrorCode.MEMBER_ID_REQUIRED
    ticket = bench.send_join(reply.member_id, needs_known_member_id=True)
    bench.pass_time(DELAY_MS)
    assert bench.replies[ticket].member_id == reply.member_id


def test_a_static_member_needs_no_second_round() -> None:
    bench = Bench()
    ticket = bench.send_join(instance_id="one", needs_known_member_id=False)
    bench.pass_time(DELAY_MS)
    assert bench.replies[ticket].error is ErrorCode.NONE


def test_an_id_that_was_handed_out_is_waited_for_until_its_session_ends() -> None:
    bench = Bench()
    member = bench.stable_group()[0]
    bench.join(needs_known_member_id=True, session_timeout_ms=7_000)
    again = bench.send_join(member.member_id)  # the leader asks for a rebalance
    assert again not in bench.replies
    bench.pass_time(7_000)
    assert bench.replies[again].generation == 2


def test_ids_handed_out_are_bounded() -> None:
    bench = Bench()
    for _ in range(PENDING_MEMBERS_MAX):
        bench.join(needs_known_member_id=True)
    reply = bench.join(needs_known_member_id=True)
    assert reply is not None
    assert reply.error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_an_unknown_member_id_is_told_so() -> None:
    bench = Bench()
    for _ in range(2):
        reply = bench.join("nobody")
        assert reply is not None
        assert reply.error is ErrorCode.UNKNOWN_MEMBER_ID
        bench.stable_group()


@pytest.mark.parametrize("session_timeout_ms", [0, 5_999, 1_800_001])
def test_a_session_timeout_out_of_bounds_is_refused(session_timeout_ms: int) -> None:
    reply = Bench().join(session_timeout_ms=session_timeout_ms)
    assert reply is not None
    assert reply.error is ErrorCode.INVALID_SESSION_TIMEOUT


@pytest.mark.parametrize("fields", [{"protocols": ()}, {"protocol_type": ""}])
def test_a_join_without_protocols_is_refused_and_leaves_no_group(fields: dict[str, object]) -> None:
    bench = Bench()
    reply = bench.join(**fields)
    assert reply is not None
    assert reply.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert bench.state() == "Dead"


@pytest.mark.parametrize("fields", [{"protocols": STICKY}, {"protocol_type": "connect"}])
def test_a_member_with_no_common_protocol_is_refused(fields: dict[str, object]) -> None:
    bench = Bench()
    bench.stable_group()
    reply = bench.join(**fields)
    assert reply is not None
    assert reply.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_the_protocol_that_most_prefer_among_the_common_ones_is_chosen() -> None:
    bench = Bench()
    first = bench.send_join(protocols=(("a", b""), ("b", b""), ("c", b"")))
    bench.send_join(protocols=(("c", b""), ("b", b"")))
    bench.send_join(protocols=(("c", b""), ("b", b""), ("a", b"")))
    bench.pass_time(3 * DELAY_MS)
    assert bench.replies[first].protocol == "c"


def test_a_follower_that_joins_unchanged_gets_its_generation_again() -> None:
    bench = Bench()
    _, follower = bench.stable_group(2)
    again = bench.join(follower.member_id)
    assert again is not None
    assert (again.generation, again.members) == (1, ())
    assert bench.state() == "Stable"


def test_a_leader_that_joins_again_rebalances_the_group() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2)
    ticket = bench.send_join(leader.member_id)
    assert bench.state() == "PreparingRebalance"
    assert bench.heartbeat(follower) is ErrorCode.REBALANCE_IN_PROGRESS
    again = bench.join(follower.member_id)
    assert again is not None
    assert again.generation == bench.replies[ticket].generation == 2


def test_changed_metadata_rebalances_the_group() -> None:
    bench = Bench()
    _, follower = bench.stable_group(2)
    bench.join(follower.member_id, protocols=(("range", b"changed"),))
    assert bench.state() == "PreparingRebalance"


def test_a_member_that_missed_its_join_reply_gets_it_again() -> None:
    bench = Bench()
    ticket = bench.send_join()
    bench.pass_time(DELAY_MS)
    first = bench.replies[ticket]
    assert bench.join(first.member_id) == first
    bench.join(first.member_id, protocols=(("range", b"changed"),))
    assert bench.state() == "CompletingRebalance"  # alone, so the new round was over at once
    assert bench.core.describe(GROUP).members[0].member_id == first.member_id


def test_a_second_join_of_one_member_answers_the_first() -> None:
    bench = Bench()
    leader, _ = bench.stable_group(2)
    stale = bench.send_join(leader.member_id)
    ticket = bench.send_join(leader.member_id)
    assert bench.replies[stale].error is ErrorCode.REBALANCE_IN_PROGRESS
    assert ticket not in bench.replies


def test_members_that_do_not_come_back_are_dropped_at_the_rebalance_timeout() -> None:
    bench = Bench()
    leader, _ = bench.stable_group(2, session_timeout_ms=60_000, rebalance_timeout_ms=20_000)
    ticket = bench.send_join(
        leader.member_id, session_timeout_ms=60_000, rebalance_timeout_ms=20_000
    )
    bench.pass_time(19_999)
    assert ticket not in bench.replies
    bench.pass_time(1)
    assert len(bench.replies[ticket].members) == 1


def test_another_member_leads_when_the_leader_does_not_come_back() -> None:
    bench = Bench()
    _, follower = bench.stable_group(2, session_timeout_ms=60_000, rebalance_timeout_ms=20_000)
    ticket = bench.send_join(follower.member_id, protocols=(("range", b"changed"),))
    bench.pass_time(60_000)
    assert bench.replies[ticket].leader == follower.member_id


def test_a_member_that_waits_in_a_join_outlives_its_session() -> None:
    bench = Bench()
    leader, follower = bench.stable_group(2, session_timeout_ms=10_000)
    ticket = bench.send_join(leader.member_id)
    for _ in range(8):
        bench.pass_time(5_000)
        assert bench.heartbeat(follower) is ErrorCode.REBALANCE_IN_PROGRESS
    again = bench.join(follower.member_id)
    assert again is not None
    assert len(bench.replies[ticket].members) == 2


def test_a_new_member_that_gave_up_is_dropped_in_the_end() -> None:
    bench = Bench()
    leader = bench.stable_group(session_timeout_ms=1_000_000, rebalance_timeout_ms=1_000_000)[0]
    ticket = bench.send_join(rebalance_timeout_ms=1_000_000)
    bench.pass_time(NEW_MEMBER_JOIN_TIMEOUT_MS)
    assert bench.replies[ticket].error is ErrorCode.UNKNOWN_MEMBER_ID
    assert [m.member_id for m in bench.core.describe(GROUP).members] == [leader.member_id]


def test_a_full_group_refuses_new_members_and_keeps_its_members() -> None:
    bench = Bench(GroupCoordinatorConfig(size_max=2))
    leader, follower = bench.stable_group(2)
    reply = bench.join()
    assert reply is not None
    assert reply.error is ErrorCode.GROUP_MAX_SIZE_REACHED
    ticket = bench.send_join(leader.member_id)
    assert bench.join(follower.member_id) is not None
    assert len(bench.replies[ticket].members) == 2


def test_a_joining_group_is_filled_only_to_its_size() -> None:
    bench = Bench(GroupCoordinatorConfig(size_max=2))
    tickets = [bench.send_join() for _ in range(3)]
    assert bench.replies[tickets[2]].error is ErrorCode.GROUP_MAX_SIZE_REACHED
    bench.pass_time(2 * DELAY_MS)
    assert bench.replies[tickets[0]].error is ErrorCode.NONE


def test_a_place_is_free_again_after_a_leave() -> None:
    bench = Bench(GroupCoordinatorConfig(size_max=1))
    member = bench.stable_group()[0]
    assert bench.leave(LeavingMember(member.member_id)) == (ErrorCode.NONE,)
    bench.send_join(protocols=RANGE)
    assert bench.state() == "PreparingRebalance"
