"""Random lives of a group: members of all kinds, slow and failing logs, restarts, the clock.

After every step the coordinator must hold together, and in the end everyone must have been
answered and memory must be what a replay of the log gives. A failing seed replays exactly.
"""

import random
from collections.abc import Callable

import pytest

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import delete_groups
from brokerd.coordinator.group.coordinator_timer import Deadline, Timer
from brokerd.coordinator.group.group_coordinator_shard import GroupCoordinatorShard
from brokerd.coordinator.group.group_metadata import Group
from brokerd.coordinator.group.group_states import GroupState
from brokerd.coordinator.group.member_memory_limit import MEMBER_BYTES
from brokerd.coordinator.group.messages import JoinReply, LeavingMember, OffsetToCommit
from brokerd.errors import ErrorCode
from tests.brokerd.coordinator.group.coordinator_bench import GROUP, RANGE, Bench

SEEDS = 30
STEPS = 300
OTHER = (("range", b"\x00\x00\x00\x00\x00\x00"),)


class Life:
    """One seeded schedule. Clients are simple: they act on the join replies they have seen."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        size_max = self.random.choice([3, 100])
        self.bench = Bench(GroupCoordinatorConfig(size_max=size_max, initial_rebalance_delay_ms=50))
        self.generation = 0
        self.steps: list[Callable[[], object]] = [
            self.join_new, self.join_new, self.join_again, self.join_again, self.join_static,
            self.sync, self.sync, self.sync, self.heartbeat, self.heartbeat, self.leave,
            self.commit, self.commit, self.wait, self.wait, self.wait_long, self.slow_log,
            self.quick_log, self.quick_log, self.failing_log, self.restart, self.delete,
            self.forget,
        ]  # fmt: skip

    def step(self) -> None:
        self.random.choice(self.steps)()
        check(self.bench)

    # What happens

    def some_joined(self) -> JoinReply | None:
        joins = [r for r in self.bench.replies.values() if isinstance(r, JoinReply) and r.member_id]
        return self.random.choice(joins[-8:]) if joins else None

    def join_new(self) -> None:
        self.bench.send_join(needs_known_member_id=self.random.random() < 0.7, **self.timeouts())

    def join_again(self) -> None:
        joined = self.some_joined()
        if joined is not None:
            protocols = self.random.choice([RANGE, RANGE, OTHER])
            self.bench.send_join(joined.member_id, protocols=protocols, **self.timeouts())

    def join_static(self) -> None:
        name = self.random.choice("ab")
        self.bench.send_join(instance_id=name, **self.timeouts())

    def timeouts(self) -> dict[str, int]:
        return {
            "session_timeout_ms": self.random.choice([6_000, 10_000]),
            "rebalance_timeout_ms": self.random.choice([8_000, 20_000]),
        }

    def sync(self) -> None:
        joined = self.some_joined()
        if joined is not None:
            self.bench.send_sync(joined, {m.member_id: b"x" for m in joined.members})

    def heartbeat(self) -> None:
        joined = self.some_joined()
        if joined is not None:
            self.bench.heartbeat(joined)

    def leave(self) -> None:
        joined = self.some_joined()
        if joined is not None:
            self.bench.leave(LeavingMember(joined.member_id))

    def commit(self) -> None:
        joined = self.some_joined()
        offset = OffsetToCommit("t", self.random.randrange(3), self.random.randrange(1000))
        if joined is None or self.random.random() < 0.3:
            self.bench.send_commit(offset)
        else:
            who = {"member_id": joined.member_id, "generation": joined.generation}
            self.bench.send_commit(offset, **who)

    def wait(self) -> None:
        self.bench.pass_time(self.random.randrange(3_000))

    def wait_long(self) -> None:
        self.bench.pass_time(self.random.choice([10_000, 60_000, 700_000]))

    def slow_log(self) -> None:
        self.bench.hold_writes = True

    def quick_log(self) -> None:
        self.bench.hold_writes = False
        self.bench.release()

    def failing_log(self) -> None:
        self.bench.release(ErrorCode.COORDINATOR_NOT_AVAILABLE)

    def restart(self) -> None:
        bench = self.bench
        bench.take(bench.core.resign(bench.clock.now_ms()))
        bench.held.clear()
        bench.restart()

    def delete(self) -> None:
        self.bench.tickets += 1
        now_ms = self.bench.clock.now_ms()
        self.bench.take(
            self.bench.core.handle(now_ms, delete_groups.delete_group, self.bench.tickets, GROUP)
        )

    def forget(self) -> None:
        self.bench.handle(delete_groups.forget_topics, {"t"})


def check(bench: Bench) -> None:
    """What holds at any time."""
    state = bench.core._state
    armed = state.deadlines._at_ms
    for group in state.groups.values():
        check_group(group)
        if group.state is GroupState.PREPARING_REBALANCE:
            assert Deadline(Timer.JOIN, group.group_id) in armed
        if group.state is GroupState.COMPLETING_REBALANCE:
            assert Deadline(Timer.SYNC, group.group_id) in armed or not group.unsynced
        for member_id in group.pending:
            key = Deadline(Timer.PENDING_MEMBER, group.group_id, member_id)
            assert key in armed
        for member in group.members.values():
            key = Deadline(Timer.SESSION, group.group_id, member.member_id)
            assert key in armed or (member.waits and not member.is_new)
    members = [member for group in state.groups.values() for member in group.members.values()]
    pending = sum(len(group.pending) for group in state.groups.values())
    held_bytes = sum(member.size_bytes for member in members) + pending * MEMBER_BYTES
    held_bytes += sum(len(each.group_id) for each in state.groups.values() if each.is_name_held)
    assert bench.core.held_bytes == held_bytes
    assert set(state.inflight) == {write.write_id for write in bench.held}


def check_group(group: Group) -> None:
    members = group.members
    assert all(member_id == member.member_id for member_id, member in members.items())
    assert group.leader in members or (group.leader is None and not members)
    assert set(group.statics.values()) <= set(members)
    assert group.unsynced <= set(members)
    assert not group.pending & set(members)
    syncing = [member for member in members.values() if member.sync_ticket is not None]
    assert not syncing or group.state is GroupState.COMPLETING_REBALANCE
    if group.state is GroupState.EMPTY:
        assert not members
    if group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
        assert members
        assert group.protocol is not None


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_group_holds_together_whatever_happens(seed: int) -> None:
    life = Life(seed)
    for _ in range(STEPS):
        life.step()
    life.quick_log()
    life.bench.pass_time(2_000_000)
    check(life.bench)
    assert set(life.bench.replies) == set(range(1, life.bench.tickets + 1))
    state = life.bench.core._state
    assert state.pending_offsets == {}
    assert all(not group.members for group in state.groups.values())
    replayed = GroupCoordinatorShard(life.bench.config)
    for record in life.bench.records():
        replayed.store.replay(record)
    assert replayed._state.store.offsets == state.store.offsets
    assert replayed._state.store.groups == state.store.groups
