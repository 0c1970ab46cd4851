"""Static members: replaced without a rebalance where nothing changes, fenced, and slow to leave."""

from brokerd.coordinator.group.group_coordinator_record_serde import GroupRecord
from brokerd.coordinator.group.messages import LeavingMember
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, Bench

STICKY_FIRST = (("sticky", b"s"), ("range", b"r"))


def test_a_member_that_comes_back_keeps_its_partitions_without_a_rebalance() -> None:
    bench = Bench()
    leader, follower = bench.static_group("a", "b")
    back = bench.join(instance_id="b")
    assert back is not None
    assert (back.error, back.generation) == (ErrorCode.NONE, 1)
    assert back.member_id != follower.member_id
    assert bench.state() == "Stable"
    reply = bench.sync(back)
    assert reply is not None
    assert reply.assignment == follower.member_id.encode()
    assert bench.heartbeat(leader) is ErrorCode.NONE


def test_the_former_process_is_fenced() -> None:
    bench = Bench()
    _, follower = bench.static_group("a", "b")
    bench.join(instance_id="b")
    assert bench.heartbeat(follower, instance_id="b") is ErrorCode.FENCED_INSTANCE_ID
    reply = bench.sync(follower, instance_id="b")
    assert reply is not None
    assert reply.error is ErrorCode.FENCED_INSTANCE_ID
    again = bench.join(follower.member_id, instance_id="b")
    assert again is not None
    assert again.error is ErrorCode.FENCED_INSTANCE_ID
    assert bench.leave(LeavingMember(follower.member_id, "b")) == (ErrorCode.FENCED_INSTANCE_ID,)
    assert bench.heartbeat(follower) is ErrorCode.UNKNOWN_MEMBER_ID


def test_the_replacement_is_written_before_it_is_answered() -> None:
    bench = Bench()
    bench.static_group("a", "b")
    bench.hold_writes = True
    ticket = bench.send_join(instance_id="b")
    assert ticket not in bench.replies
    bench.release()
    record = bench.records()[-1]
    assert isinstance(record, GroupRecord)
    assert record.value is not None
    ids = {m.instance_id: m.member_id for m in record.value.members}
    assert ids["b"] == bench.replies[ticket].member_id


def test_a_replacement_that_could_not_be_written_is_undone() -> None:
    bench = Bench()
    _, follower = bench.static_group("a", "b")
    bench.hold_writes = True
    ticket = bench.send_join(instance_id="b")
    bench.release(ErrorCode.NOT_COORDINATOR)
    assert bench.replies[ticket].error is ErrorCode.NOT_COORDINATOR
    assert bench.heartbeat(follower, instance_id="b") is ErrorCode.NONE


def test_a_replacement_of_a_replacement_fences_the_one_between() -> None:
    bench = Bench()
    bench.static_group("a", "b")
    bench.hold_writes = True
    first = bench.send_join(instance_id="b")
    second = bench.send_join(instance_id="b")
    assert bench.replies[first].error is ErrorCode.FENCED_INSTANCE_ID
    bench.release()
    assert bench.replies[second].error is ErrorCode.NONE


def test_a_leader_that_comes_back_is_told_to_skip_the_assignment_if_it_can() -> None:
    bench = Bench()
    leader, _ = bench.static_group("a", "b")
    instance = {m.member_id: m.instance_id for m in leader.members}[leader.member_id]
    back = bench.join(instance_id=instance, may_skip_assignment=True)
    assert back is not None
    assert back.skip_assignment
    assert back.leader == back.member_id
    assert len(back.members) == 2


def test_an_older_leader_that_comes_back_is_told_that_its_former_self_leads() -> None:
    bench = Bench()
    leader, _ = bench.static_group("a", "b")
    instance = {m.member_id: m.instance_id for m in leader.members}[leader.member_id]
    back = bench.join(instance_id=instance)
    assert back is not None
    assert (back.leader, back.members) == (leader.member_id, ())


def test_a_replacement_that_changes_the_protocol_rebalances() -> None:
    bench = Bench()
    both = (("range", b"r"), ("sticky", b"s"))
    bench.static_group("a", protocols=both)
    ticket = bench.send_join(instance_id="a", protocols=STICKY_FIRST)
    reply = bench.replies[ticket]
    assert (reply.generation, reply.protocol) == (2, "sticky")


def test_a_replacement_between_join_and_sync_rebalances() -> None:
    bench = Bench()
    tickets = [bench.send_join(instance_id=name) for name in ("a", "b")]
    bench.pass_time(2 * bench.config.initial_rebalance_delay_ms)
    old = bench.replies[tickets[1]]
    waiting = bench.send_sync(old, instance_id="b")
    bench.send_join(instance_id="b")
    assert bench.replies[waiting].error is ErrorCode.FENCED_INSTANCE_ID
    assert bench.state() == "PreparingRebalance"


def test_a_replacement_during_a_rebalance_answers_the_one_replaced() -> None:
    bench = Bench()
    tickets = [bench.send_join(instance_id="a"), bench.send_join(instance_id="a")]
    assert bench.replies[tickets[0]].error is ErrorCode.FENCED_INSTANCE_ID
    bench.pass_time(2 * bench.config.initial_rebalance_delay_ms)
    assert len(bench.replies[tickets[1]].members) == 1


def test_a_stopped_member_stays_through_a_rebalance_until_its_session_ends() -> None:
    bench = Bench()
    timeouts = {"session_timeout_ms": 60_000, "rebalance_timeout_ms": 20_000}
    leader, follower = bench.static_group("a", "b", **timeouts)
    ticket = bench.send_join(
        leader.member_id, protocols=(("range", b"changed"),), instance_id=None, **timeouts
    )
    bench.pass_time(20_000)
    members = {m.member_id for m in bench.replies[ticket].members}
    assert members == {leader.member_id, follower.member_id}


def test_an_administrator_can_remove_a_static_member_by_its_instance() -> None:
    bench = Bench()
    leader, _ = bench.static_group("a", "b")
    assert bench.leave(LeavingMember("", "b")) == (ErrorCode.NONE,)
    assert [m.member_id for m in bench.core.describe(GROUP).members] == [leader.member_id]


def test_a_replacement_survives_a_restart() -> None:
    bench = Bench()
    bench.static_group("a", "b")
    back = bench.join(instance_id="b")
    assert back is not None
    bench.restart()
    assert bench.heartbeat(back, instance_id="b") is ErrorCode.NONE
