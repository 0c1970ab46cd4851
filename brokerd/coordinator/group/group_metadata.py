"""A group in its coordinator's memory: state, generation, members and their waiting requests.

Durable is only what `group_store.py` replays from records (`Group.from_stored`); the rest is lost
with leadership, which costs the members one rebalance at most.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from brokerd.coordinator.group.group_coordinator_record_serde import GroupValue, MemberValue
from brokerd.coordinator.group.group_states import Event, GroupState, next_state
from brokerd.coordinator.group.member_memory_limit import MEMBER_BYTES, MemberMemory, size_of
from brokerd.coordinator.group.messages import Ticket
from brokerd.errors import ErrorCode


@dataclass(slots=True, kw_only=True)
class Member:
    """One member; a ticket is set while its join or sync waits for an answer."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    assignment: bytes = b""
    join_ticket: Ticket | None = None
    sync_ticket: Ticket | None = None
    is_new: bool = False
    """In its first join: it does not know its id yet, so it cannot send heartbeats."""

    def subscription(self, protocol: str | None) -> bytes:
        """Its metadata under `protocol`, empty where it has none."""
        return next((data for name, data in self.protocols if name == protocol), b"")

    @property
    def size_bytes(self) -> int:
        join_bytes = size_of(self.protocols, self.client_id, self.instance_id)
        return MEMBER_BYTES + join_bytes + len(self.assignment)

    @property
    def waits(self) -> bool:
        return self.join_ticket is not None or self.sync_ticket is not None


@dataclass(slots=True)
class Group:
    """Members are in the order in which they joined. Only the methods add, remove and resize them,
    since `member_memory` counts their bytes."""

    group_id: str
    member_memory: MemberMemory = field(default_factory=MemberMemory, compare=False)
    state: GroupState = GroupState.EMPTY
    state_since_ms: int = -1
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    statics: dict[str, str] = field(default_factory=dict)
    """Member id by instance id."""
    pending: set[str] = field(default_factory=set)
    """Ids handed out with MEMBER_ID_REQUIRED and not yet used."""
    unsynced: set[str] = field(default_factory=set)
    """Members that did not ask for their assignment since the last join."""
    is_initial_delay: bool = False
    """The rebalance under way is the first of an empty group: it waits for company."""
    initial_delay_left_ms: int = 0
    new_member_added: bool = False
    is_name_held: bool = False
    """Whether `member_memory` counts its name: a client chose it, and it may be stored nowhere."""

    @classmethod
    def founded(cls, group_id: str, member_memory: MemberMemory) -> "Group":
        """A new group, whose first member is about to join."""
        member_memory.size_bytes += len(group_id)
        return cls(group_id, member_memory, is_name_held=True)

    @classmethod
    def from_stored(
        cls, group_id: str, value: GroupValue | None, member_memory: MemberMemory
    ) -> "Group":
        """The group as of its last record: Stable with members, else Empty."""
        group = cls(group_id, member_memory)
        if value is None:
            return group
        group.state = GroupState.STABLE if value.members else GroupState.EMPTY
        group.state_since_ms = value.state_since_ms
        group.generation = value.generation
        group.protocol_type = value.protocol_type or None
        group.protocol = value.protocol
        group.leader = value.leader
        for stored in value.members:
            group._restore(stored)
        return group

    def _restore(self, stored: MemberValue) -> None:
        member = Member(
            member_id=stored.member_id,
            instance_id=stored.instance_id,
            client_id=stored.client_id,
            client_host=stored.client_host,
            session_timeout_ms=stored.session_timeout_ms,
            rebalance_timeout_ms=stored.rebalance_timeout_ms,
            protocols=((self.protocol or "", stored.subscription),),
            assignment=stored.assignment,
        )
        self._take_in(member)

    def forget_name(self) -> None:
        if self.is_name_held:
            self.member_memory.size_bytes -= len(self.group_id)
            self.is_name_held = False

    def move(self, event: Event, now_ms: int) -> None:
        self.state = next_state(self.state, event)
        self.state_since_ms = now_ms

    # Members

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self._take_in(member)
        if self.leader is None:
            self.leader = member.member_id
        self.expect_no_more(member.member_id)

    def _take_in(self, member: Member) -> None:
        self.members[member.member_id] = member
        self.member_memory.size_bytes += member.size_bytes
        if member.instance_id is not None:
            self.statics[member.instance_id] = member.member_id

    def expect(self, member_id: str) -> None:
        """A member id was given out; the member is to join with it."""
        self.pending.add(member_id)
        self.member_memory.size_bytes += MEMBER_BYTES

    def expect_no_more(self, member_id: str) -> None:
        if member_id in self.pending:
            self.pending.discard(member_id)
            self.member_memory.size_bytes -= MEMBER_BYTES

    @contextmanager
    def changing(self, member: Member) -> Iterator[None]:
        """Context in which a member's subscriptions or assignment change: counts its bytes anew."""
        self.member_memory.size_bytes -= member.size_bytes
        yield
        self.member_memory.size_bytes += member.size_bytes

    def assign(self, member: Member, assignment: bytes) -> None:
        with self.changing(member):
            member.assignment = assignment

    def has_room_for(self, assignments: dict[str, bytes]) -> bool:
        more_bytes = sum(
            len(assignments.get(member.member_id, b"")) - len(member.assignment)
            for member in self.members.values()
        )
        return self.member_memory.has_room(more_bytes)

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.member_memory.size_bytes -= member.size_bytes
        self.unsynced.discard(member_id)
        if member.instance_id is not None and self.statics.get(member.instance_id) == member_id:
            del self.statics[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)

    def rename(self, old_id: str, new_id: str) -> Member:
        """Gives a static member a new id; its place in the order stays."""
        member = self.members[old_id]
        member.member_id = new_id
        self.members = {
            (new_id if key == old_id else key): value for key, value in self.members.items()
        }
        if member.instance_id is not None:
            self.statics[member.instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        if old_id in self.unsynced:
            self.unsynced.remove(old_id)
            self.unsynced.add(new_id)
        return member

    @property
    def all_joined(self) -> bool:
        """Whether every member has a waiting join, and no member id given out is unused."""
        return not self.pending and all(m.join_ticket is not None for m in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Keeps the leader if it joined, else takes the first member that did; False if none
        did."""
        leader = self.members.get(self.leader or "")
        if leader is not None and leader.join_ticket is not None:
            return True
        joined = (m for m in self.members.values() if m.join_ticket is not None)
        first = next(joined, None)
        if first is None:
            return False
        self.leader = first.member_id
        return True

    # Checks of a member's request

    def check_member(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """NONE for a member; FENCED_INSTANCE_ID if another member has its instance id now."""
        if instance_id is not None:
            owner = self.statics.get(instance_id)
            if owner is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if owner != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def check_generation(
        self, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """As `check_member`; and ILLEGAL_GENERATION if the member names another generation."""
        error = self.check_member(member_id, instance_id)
        if error is not ErrorCode.NONE:
            return error
        return ErrorCode.NONE if generation == self.generation else ErrorCode.ILLEGAL_GENERATION

    # Protocols

    def supports(self, protocol_type: str, protocols: tuple[tuple[str, bytes], ...]) -> bool:
        """Whether a member with these protocols may join the others."""
        if not protocol_type or not protocols:
            return False
        if self.state is GroupState.EMPTY or not self.members:
            return True
        common = self._common_protocols()
        return self.protocol_type == protocol_type and any(name in common for name, _ in protocols)

    def _common_protocols(self) -> set[str]:
        sets = [{name for name, _ in m.protocols} for m in self.members.values()]
        return set.intersection(*sets) if sets else set()

    def select_protocol(self) -> str:
        """What all support and most prefer; on a tie what the member prefers that joined first."""
        common = self._common_protocols()
        votes: Counter[str] = Counter()
        for member in self.members.values():
            votes[next(name for name, _ in member.protocols if name in common)] += 1
        return votes.most_common(1)[0][0]

    # What records and replies show

    def to_value(self, assignments: dict[str, bytes] | None = None) -> GroupValue:
        """The value of the group's record; `assignments` are those that are not set yet."""
        return GroupValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol,
            leader=self.leader,
            state_since_ms=self.state_since_ms,
            members=self.member_values(assignments),
        )

    def member_values(self, assignments: dict[str, bytes] | None = None) -> tuple[MemberValue, ...]:
        return tuple(
            MemberValue(
                member_id=m.member_id,
                instance_id=m.instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                rebalance_timeout_ms=m.rebalance_timeout_ms,
                session_timeout_ms=m.session_timeout_ms,
                subscription=m.subscription(self.protocol),
                assignment=(
                    m.assignment if assignments is None else assignments.get(m.member_id, b"")
                ),
            )
            for m in self.members.values()
        )

    def subscribed_topics(self) -> frozenset[str] | None:
        """The topics that a group of consumers subscribes to; None if they cannot be known. A
        subscription starts in every version with: version int16, topics array of string."""
        if self.protocol_type != "consumer" or self.protocol is None:
            return None
        topics: set[str] = set()
        protocol = self.protocol
        # Members mostly subscribe to the same.
        for subscription in {each.subscription(protocol) for each in self.members.values()}:
            names = _topics_of(subscription)
            if names is None:
                return None
            topics |= names
        return frozenset(topics)


def _topics_of(subscription: bytes) -> set[str] | None:
    position, topics = 6, set()
    for _ in range(int.from_bytes(subscription[2:6])):
        size = int.from_bytes(subscription[position : position + 2])
        name = subscription[position + 2 : position + 2 + size]
        if len(name) != size or not size:
            return None
        topics.add(name.decode(errors="replace"))
        position += 2 + size
    return topics if len(subscription) >= 6 else None
