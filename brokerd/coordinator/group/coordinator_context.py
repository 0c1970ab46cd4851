"""The groups of one partition (Kafka's CoordinatorContext), and the context of one event.

A handler is a function of a context and a request. It may change the groups in memory, answer
tickets and ask for records to be written; it never changes the store. The callback of a write
(`Done`) is called in the context of a later event: after the records were replayed, or with the
error that kept them out of the log.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from brokerd.config.group_coordinator_config import GroupCoordinatorConfig
from brokerd.coordinator.group.coordinator_timer import CoordinatorTimer, Deadline, Timer
from brokerd.coordinator.group.group_coordinator_record_serde import GroupsRecord, OffsetRecord
from brokerd.coordinator.group.group_metadata import Group, Member
from brokerd.coordinator.group.group_store import GroupStore
from brokerd.coordinator.group.member_memory_limit import MemberMemory
from brokerd.coordinator.group.messages import Effects, JoinReply, Reply, SyncReply, Ticket, Write
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition

Done = Callable[["EventContext", ErrorCode], None]


@dataclass(slots=True)
class PartitionGroups:
    """The groups of one partition, with their deadlines and writes."""

    config: GroupCoordinatorConfig
    member_memory: MemberMemory
    store: GroupStore = field(default_factory=GroupStore)
    groups: dict[str, Group] = field(default_factory=dict)
    deadlines: CoordinatorTimer = field(default_factory=CoordinatorTimer)
    inflight: dict[int, tuple[Write, Done]] = field(default_factory=dict)
    pending_offsets: dict[str, Counter[TopicPartition]] = field(default_factory=dict)
    """Offsets in writes under way, by group: not visible, but they keep it from expiring."""
    sweep: list[str] = field(default_factory=list)
    """Groups that the current sweep for expired offsets has still to check."""
    writes_made: int = 0


@dataclass(slots=True)
class EventContext:
    """One event: its time, the groups, and the effects that handlers add."""

    state: PartitionGroups
    now_ms: int
    effects: Effects = field(default_factory=Effects)

    @property
    def config(self) -> GroupCoordinatorConfig:
        return self.state.config

    def reply(self, ticket: Ticket, reply: Reply) -> None:
        self.effects.replies.append((ticket, reply))

    def write(self, records: Iterable[GroupsRecord], done: Done) -> None:
        """Has `records` appended together; `done` is called when the high watermark has passed
        them, or with an error. Without records it is called at once."""
        state = self.state
        write = Write(state.writes_made + 1, tuple(records))
        if not write.records:
            done(self, ErrorCode.NONE)
            return
        state.writes_made += 1
        state.inflight[write.write_id] = (write, done)
        for record in write.records:
            if isinstance(record, OffsetRecord) and record.value is not None:
                pending = state.pending_offsets.setdefault(record.group_id, Counter())
                pending[record.topic, record.partition] += 1
        self.effects.writes.append(write)

    def set_deadline(self, timer: Timer, group: Group, after_ms: int, member_id: str = "") -> None:
        key = Deadline(timer, group.group_id, member_id)
        self.state.deadlines.set(key, self.now_ms + after_ms)

    def cancel_deadline(self, timer: Timer, group: Group, member_id: str = "") -> None:
        self.state.deadlines.cancel(Deadline(timer, group.group_id, member_id))

    # Answers that end a member's wait

    def answer_join(self, member: Member, reply: JoinReply) -> None:
        if member.join_ticket is not None:
            self.reply(member.join_ticket, reply)
            member.join_ticket = None

    def answer_sync(self, member: Member, reply: SyncReply) -> None:
        if member.sync_ticket is not None:
            self.reply(member.sync_ticket, reply)
            member.sync_ticket = None


def ignore_outcome(_context: EventContext, _error: ErrorCode) -> None:
    """For a write without a waiting request: if it fails, nothing has to be done."""
