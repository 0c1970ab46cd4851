"""The groups of one partition, and the context in which one event is handled.

A handler is a function of a context and a request. It may read everything, change the groups in
memory, answer tickets and ask for records to be written; it never touches the store. A write has a
callback (`Done`), which is called in the context of a later event: after the records were replayed,
or with the error that kept them out of the log.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from brokerd.config.group import GroupConfig
from brokerd.coordinator.group.deadlines import Deadline, Deadlines, Timer
from brokerd.coordinator.group.group import Group, Member
from brokerd.coordinator.group.member_memory import MemberMemory
from brokerd.coordinator.group.messages import Effects, JoinReply, Reply, SyncReply, Ticket, Write
from brokerd.coordinator.group.records import GroupsRecord, OffsetRecord
from brokerd.coordinator.group.store import GroupStore
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition

Done = Callable[["EventContext", ErrorCode], None]


class Groups:
    """The groups of one partition, with their deadlines and writes."""

    __slots__ = (
        "config", "deadlines", "groups", "inflight", "member_memory", "pending_offsets", "store",
        "sweep", "writes_made",
    )  # fmt: skip

    def __init__(self, config: GroupConfig, member_memory: MemberMemory) -> None:
        self.config = config
        self.member_memory = member_memory
        self.store = GroupStore()
        self.groups: dict[str, Group] = {}
        self.deadlines = Deadlines()
        self.inflight: dict[int, tuple[Write, Done]] = {}
        self.pending_offsets: dict[str, Counter[TopicPartition]] = {}
        """Offsets in writes under way: not visible yet, but no longer to be expired."""
        self.sweep: list[str] = []
        """Groups still to be looked at by the sweep of expired offsets under way."""
        self.writes_made = 0


class EventContext:
    """One event: its time, and its effects."""

    __slots__ = ("effects", "now_ms", "shard")

    def __init__(self, shard: Groups, now_ms: int) -> None:
        self.shard = shard
        self.now_ms = now_ms
        self.effects = Effects()

    @property
    def config(self) -> GroupConfig:
        return self.shard.config

    def reply(self, ticket: Ticket, reply: Reply) -> None:
        self.effects.replies.append((ticket, reply))

    def write(self, records: Iterable[GroupsRecord], done: Done) -> None:
        """Have `records` appended together; `done` runs when the log has them for good: at once
        where there are none, as for a group of which nothing was ever stored."""
        shard = self.shard
        write = Write(shard.writes_made + 1, tuple(records))
        if not write.records:
            done(self, ErrorCode.NONE)
            return
        shard.writes_made += 1
        shard.inflight[write.write_id] = (write, done)
        for record in write.records:
            if isinstance(record, OffsetRecord) and record.value is not None:
                pending = shard.pending_offsets.setdefault(record.group_id, Counter())
                pending[record.topic, record.partition] += 1
        self.effects.writes.append(write)

    # Answers that end a member's wait

    def answer_join(self, member: Member, reply: JoinReply) -> None:
        """Answer the member's delayed join, if it has one."""
        if member.join_ticket is not None:
            self.reply(member.join_ticket, reply)
            member.join_ticket = None

    def answer_sync(self, member: Member, reply: SyncReply) -> None:
        """Answer the member's delayed sync, if it has one."""
        if member.sync_ticket is not None:
            self.reply(member.sync_ticket, reply)
            member.sync_ticket = None

    # Sessions

    def renew_session(self, group: Group, member: Member) -> None:
        """The member was heard of."""
        key = Deadline(Timer.SESSION, group.group_id, member.member_id)
        self.shard.deadlines.set(key, self.now_ms + member.session_timeout_ms)

    def end_session(self, group: Group, member_id: str) -> None:
        self.shard.deadlines.cancel(Deadline(Timer.SESSION, group.group_id, member_id))


def ignore_outcome(_turn: EventContext, _error: ErrorCode) -> None:
    """For a write whose loss changes nothing that was promised."""
