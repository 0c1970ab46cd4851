"""A group coordinator with a log made of a list: the adapter of the tests, with a manual clock.

Writes are appended and passed by the high watermark at once, unless `hold_writes` keeps them back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group import (
    delete_groups,
    join_group,
    leave_group,
    offset_commit,
    sync_group,
)
from brokerd.coordinator.group.group_coordinator_record_serde import (
    GroupsRecord,
    decode,
    encode_key,
    encode_value,
)
from brokerd.coordinator.group.group_coordinator_shard import GroupCoordinatorShard
from brokerd.coordinator.group.messages import (
    CommitRequest,
    DeleteReply,
    Effects,
    HeartbeatRequest,
    JoinReply,
    JoinRequest,
    LeaveReply,
    LeavingMember,
    OffsetsReply,
    OffsetToCommit,
    SyncReply,
    SyncRequest,
    Write,
)
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition
from tests.support.manual_clock import ManualClock

GROUP = "readers"
RANGE = (("range", b"\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x00"),)
"""A consumer's subscription to the topic `t`."""


@dataclass
class Bench:
    """Calls return the reply that came at once, None where the request waits."""

    config: GroupCoordinatorConfig = field(default_factory=GroupCoordinatorConfig)
    clock: ManualClock = field(default_factory=ManualClock)
    hold_writes: bool = False
    log: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    held: list[Write] = field(default_factory=list)
    replies: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.core = GroupCoordinatorShard(self.config)
        self.take(self.core.loaded(self.clock.now_ms()))
        self.tickets = 0

    # What the adapter does

    def take(self, effects: Effects) -> None:
        for ticket, reply in effects.replies:
            assert ticket not in self.replies, "a ticket is answered once"
            self.replies[ticket] = reply
        self.held += effects.writes
        if not self.hold_writes:
            self.release()

    def release(self, error: ErrorCode = ErrorCode.NONE) -> None:
        """Let what was written pass the high watermark, or fail to be appended."""
        while self.held:
            write = self.held.pop(0)
            if error is not ErrorCode.NONE:
                self.take(self.core.write_failed(write.write_id, error, self.clock.now_ms()))
                continue
            self.log += [(encode_key(r), encode_value(r)) for r in write.records]
            self.take(self.core.write_done(write.write_id, self.clock.now_ms()))

    def pass_time(self, by_ms: int) -> None:
        """Move the clock, stopping at every deadline on the way as a loop would."""
        end_ms = self.clock.now_ms() + by_ms
        while True:
            due_ms = self.core.next_deadline_ms
            if due_ms is None or due_ms > end_ms:
                break
            self.clock.advance(max(due_ms - self.clock.now_ms(), 0))
            self.take(self.core.tick(self.clock.now_ms()))
        self.clock.advance(end_ms - self.clock.now_ms())

    def restart(self) -> None:
        """Another broker takes over: everything in memory is gone, the log is replayed."""
        self.core = GroupCoordinatorShard(self.config)
        for record in self.records():
            self.core.store.replay(record)
        self.take(self.core.loaded(self.clock.now_ms()))

    def records(self) -> list[GroupsRecord]:
        decoded = [decode(key, value) for key, value in self.log]
        return [record for record in decoded if record is not None]

    def _ticket(self) -> int:
        self.tickets += 1
        return self.tickets

    # Requests

    def handle(self, handler: Callable[..., None], *arguments: object) -> None:
        self.take(self.core.handle(self.clock.now_ms(), handler, *arguments))

    def send_join(self, member_id: str = "", **fields: Any) -> int:
        """Join, returning the ticket under which the answer will be in `replies`."""
        ticket = self._ticket()
        defaults: dict[str, Any] = {
            "group_id": GROUP,
            "new_member_id": f"member-{ticket}",
            "protocols": RANGE,
            "client_id": "client",
            "client_host": "/127.0.0.1",
        }
        request = JoinRequest(member_id=member_id, **(defaults | fields))
        self.handle(join_group.join, ticket, request)
        return ticket

    def join(self, member_id: str = "", **fields: Any) -> JoinReply | None:
        reply: JoinReply | None = self.replies.get(self.send_join(member_id, **fields))
        return reply

    def send_sync(
        self, joined: JoinReply, assignments: dict[str, bytes] | None = None, **fields: Any
    ) -> int:
        ticket = self._ticket()
        defaults: dict[str, Any] = {
            "group_id": GROUP,
            "member_id": joined.member_id,
            "generation": joined.generation,
            "assignments": tuple((assignments or {}).items()),
        }
        request = SyncRequest(**(defaults | fields))
        self.handle(sync_group.sync, ticket, request)
        return ticket

    def sync(
        self, joined: JoinReply, assignments: dict[str, bytes] | None = None, **fields: Any
    ) -> SyncReply | None:
        reply: SyncReply | None = self.replies.get(self.send_sync(joined, assignments, **fields))
        return reply

    def heartbeat(self, joined: JoinReply, **fields: Any) -> ErrorCode:
        defaults: dict[str, Any] = {
            "group_id": GROUP,
            "member_id": joined.member_id,
            "generation": joined.generation,
        }
        return self.core.heartbeat(HeartbeatRequest(**(defaults | fields)), self.clock.now_ms())

    def leave(self, *members: LeavingMember, group_id: str = GROUP) -> tuple[ErrorCode, ...]:
        ticket = self._ticket()
        self.take(
            self.core.handle(self.clock.now_ms(), leave_group.leave, ticket, group_id, members)
        )
        reply: LeaveReply = self.replies[ticket]
        return reply.errors

    def send_commit(self, *offsets: OffsetToCommit, **fields: Any) -> int:
        ticket = self._ticket()
        request = CommitRequest(**({"group_id": GROUP, "offsets": offsets} | fields))
        self.handle(offset_commit.commit, ticket, request)
        return ticket

    def commit(self, *offsets: OffsetToCommit, **fields: Any) -> list[ErrorCode] | None:
        reply: OffsetsReply | None = self.replies.get(self.send_commit(*offsets, **fields))
        return None if reply is None else list(reply.errors.values())

    def delete(self, group_id: str = GROUP) -> ErrorCode | None:
        ticket = self._ticket()
        self.take(
            self.core.handle(self.clock.now_ms(), delete_groups.delete_group, ticket, group_id)
        )
        reply: DeleteReply | None = self.replies.get(ticket)
        return None if reply is None else reply.error

    def delete_offsets(self, *partitions: TopicPartition) -> list[ErrorCode]:
        ticket = self._ticket()
        effects = self.core.handle(
            self.clock.now_ms(), delete_groups.delete_offsets, ticket, GROUP, partitions
        )
        self.take(effects)
        reply: OffsetsReply = self.replies[ticket]
        return list(reply.errors.values())

    # What is seen

    def state(self, group_id: str = GROUP) -> str:
        return self.core.describe(group_id).state

    def offset(self, topic: str = "t", partition: int = 0, group_id: str = GROUP) -> int | None:
        value = self.core.offsets(group_id, [(topic, partition)])[topic, partition]
        return None if value is None else value.offset

    # Shortcuts

    def stable_group(self, size: int = 1, **fields: Any) -> list[JoinReply]:
        """A stable group of `size` members, the leader first; each has its id as assignment."""
        tickets = [self.send_join(**fields) for _ in range(size)]
        self.pass_time(self.config.initial_rebalance_delay_ms)
        while any(ticket not in self.replies for ticket in tickets):
            self.pass_time(self.config.initial_rebalance_delay_ms)
        return self.sync_all([self.replies[ticket] for ticket in tickets])

    def static_group(self, *instance_ids: str, **fields: Any) -> list[JoinReply]:
        tickets = [self.send_join(instance_id=name, **fields) for name in instance_ids]
        while any(ticket not in self.replies for ticket in tickets):
            self.pass_time(self.config.initial_rebalance_delay_ms)
        return self.sync_all([self.replies[ticket] for ticket in tickets])

    def sync_all(self, joined: Sequence[JoinReply]) -> list[JoinReply]:
        joined = sorted(joined, key=lambda reply: reply.member_id != reply.leader)
        assignments = {m.member_id: m.member_id.encode() for m in joined[0].members}
        for index, reply in enumerate(joined):
            assert reply.error is ErrorCode.NONE
            self.send_sync(reply, assignments if index == 0 else None)
        assert self.state() == "Stable"
        return joined
