"""Requests, replies and effects of the group coordinator, as plain values without wire format. A
request that may wait has a ticket, any hashable the caller likes; its reply names the same
ticket.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from brokerd.coordinator.group.group_coordinator_record_serde import GroupsRecord, MemberValue
from brokerd.errors import ErrorCode
from brokerd.topic_partition import TopicPartition

Ticket = Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """`new_member_id` is the member's id if it needs one: the caller draws it. `protocols`: (name,
    subscription), the preferred first."""

    group_id: str
    member_id: str
    new_member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    protocol_type: str = "consumer"
    protocols: tuple[tuple[str, bytes], ...] = ()
    needs_known_member_id: bool = False
    """KIP-394, JoinGroup v4+."""
    may_skip_assignment: bool = False
    """KIP-814, JoinGroup v9+."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """`assignments` by member id come from the leader; protocol names may be left out (v<5)."""

    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRequest:
    group_id: str
    member_id: str
    generation: int
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeavingMember:
    """A static member may be named by its instance id alone (`member_id` '')."""

    member_id: str
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class OffsetToCommit:
    topic: str
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """Of a member, or (generation -1, no member id) of a client outside the group."""

    group_id: str
    member_id: str = ""
    generation: int = -1
    instance_id: str | None = None
    offsets: tuple[OffsetToCommit, ...] = ()
    retention_ms: int | None = None
    """Kept this long whatever the settings say (OffsetCommit v2-4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinReply:
    error: ErrorCode = ErrorCode.NONE
    member_id: str = ""
    generation: int = -1
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: tuple[MemberValue, ...] = ()
    """Of the leader's reply: all members with their subscriptions."""
    skip_assignment: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReply:
    error: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True)
class LeaveReply:
    """One error for each member, in the order of the request."""

    errors: tuple[ErrorCode, ...]


@dataclass(frozen=True, slots=True)
class OffsetsReply:
    """The error of each partition of a commit or of a removal of offsets."""

    errors: dict[TopicPartition, ErrorCode]
    error: ErrorCode = ErrorCode.NONE
    """Set where the request as a whole was refused; the partitions then carry it too."""


@dataclass(frozen=True, slots=True)
class DeleteReply:
    error: ErrorCode


Reply = JoinReply | SyncReply | LeaveReply | OffsetsReply | DeleteReply


@dataclass(frozen=True, slots=True)
class Write:
    """Records to append together; their outcome (`write_done` …) is reported with this id."""

    write_id: int
    records: tuple[GroupsRecord, ...]


@dataclass(slots=True)
class Effects:
    """What the runtime has to do after an event: replies to send, writes to append, in order."""

    replies: list[tuple[Ticket, Reply]] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GroupListing:
    group_id: str
    protocol_type: str
    state: str


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group that does not exist is described as Dead, as in Kafka."""

    state: str = "Dead"
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[MemberValue, ...] = ()
