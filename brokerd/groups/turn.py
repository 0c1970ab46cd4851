"""The groups of one partition, and a turn: one event worked off at one moment.

A handler is a function of a turn and a request. It may look at everything, change the groups in
memory, answer tickets and ask for records to be written; it never touches the store. A write names
what happens when it is done (`Done`), which runs in a later turn: after the records were replayed,
or with the error that kept them out of the log.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from brokerd.config.group import GroupConfig
from brokerd.errors import ErrorCode
from brokerd.groups.deadlines import Deadline, Deadlines, Timer
from brokerd.groups.group import Group, Member
from brokerd.groups.held import Held
from brokerd.groups.messages import (
    Effects,
    JoinReply,
    Reply,
    SyncReply,
    Ticket,
    TopicPartition,
    Write,
)
from brokerd.groups.records import GroupsRecord, OffsetRecord
from brokerd.groups.store import GroupStore

Done = Callable[["Turn", ErrorCode], None]


class Groups:
    """All there is about the groups of one partition; see the module text for who changes what."""

    __slots__ = (
        "config", "deadlines", "groups", "held", "inflight", "pending_offsets", "store", "sweep",
        "writes_made",
    )  # fmt: skip

    def __init__(self, config: GroupConfig, held: Held) -> None:
        self.config = config
        self.held = held
        self.store = GroupStore()
        self.groups: dict[str, Group] = {}
        self.deadlines = Deadlines()
        self.inflight: dict[int, tuple[Write, Done]] = {}
        self.pending_offsets: dict[str, Counter[TopicPartition]] = {}
        """Offsets in writes under way: not visible yet, but no longer to be expired."""
        self.sweep: list[str] = []
        """Groups still to be looked at by the sweep of expired offsets under way."""
        self.writes_made = 0


class Turn:
    """One event: its time, what it leads to."""

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
        """Answer the member's parked join, if it has one."""
        if member.join_ticket is not None:
            self.reply(member.join_ticket, reply)
            member.join_ticket = None

    def answer_sync(self, member: Member, reply: SyncReply) -> None:
        """Answer the member's parked sync, if it has one."""
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


def ignore_outcome(_turn: Turn, _error: ErrorCode) -> None:
    """For a write whose loss changes nothing that was promised."""
