"""ListGroups v4 and DescribeGroups v4: the groups of a coordinator, and their members.

An assignment has the format of the consumer protocol:

    version i16, topics[name s, partitions[i32]], user data b?

ListGroups v4    = throttle i32, error i16, groups[id s, protocol type s, state s], flexible
DescribeGroups v4 = throttle i32, groups[error i16, id s, state s, protocol type s, protocol s,
                    members[id s, instance s?, client s, host s, metadata b, assignment b],
                    operations i32]

Members of groups with another protocol type (Kafka Connect …) have no partitions.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from struct import error as StructError

import numpy as np

from brokerd.protocol import messages
from monitoring.error_reason import Reason
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, AFTER_THROTTLE_TIME, Cursor
from monitoring.gateway.wire.metadata import Ints
from monitoring.gateway.wire.response_limits import (
    InvalidParts,
    check_limit,
    printable,
    remove_expected,
)

LIST_KEY, LIST_VERSION = 16, 4
DESCRIBE_KEY, DESCRIBE_VERSION = 15, 4
_MEMBERS_REFUSED = -2  # not an error code of Kafka: the group's members exceeded a limit


@dataclass(frozen=True, slots=True)
class ListedGroup:
    group: str
    state: str
    protocol_type: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One member and its assignment: (topic, partition numbers)."""

    member_id: str
    client_id: str
    host: str
    assigned: tuple[tuple[str, Ints], ...]


@dataclass(frozen=True, slots=True, eq=False)
class DescribedGroup:
    group: str
    error: int
    state: str
    members: tuple[Member, ...]


def list_request(correlation_id: int) -> bytes:
    """The request frame for all groups in all states."""
    fields: dict[str, object] = {"states_filter": []}
    return messages.encode_request(LIST_KEY, LIST_VERSION, fields, correlation_id, CLIENT_ID)


def decode_list(answer: bytes, invalid: InvalidParts) -> tuple[int, list[ListedGroup]]:
    """(error code, groups). Raises KafkaError, struct.error, ValueError or OverLimit."""
    cursor = Cursor(answer, AFTER_CORRELATION_ID, flexible=True)
    cursor.skip_tags()
    cursor.skip(4)  # throttle time
    error_code, groups = cursor.i16(), []
    check_limit(
        count := cursor.array_length(item_bytes_min=4),
        response_limits.GROUPS_MAX,
        "too_many_groups",
    )
    for _ in range(count):
        group, protocol, state = cursor.text() or "", cursor.text() or "", cursor.text() or ""
        cursor.skip_tags()
        if len(group) > response_limits.GROUP_LENGTH_MAX:
            invalid.add(Reason("group_name", n=len(group), name=printable(group)))
        else:
            groups.append(ListedGroup(group, _short(state), _short(protocol)))
    return error_code, groups


def _short(text: str) -> str:
    """A name defined by Kafka; "?" if it is too long."""
    return text if len(text) <= response_limits.TEXT_LENGTH_MAX else "?"


def describe_request(groups: Sequence[str], correlation_id: int) -> bytes:
    """The request frame for the members of `groups`."""
    fields = {"groups": list(groups), "include_authorized_operations": False}
    return messages.encode_request(
        DESCRIBE_KEY, DESCRIBE_VERSION, fields, correlation_id, CLIENT_ID
    )


def decode_describe(
    answer: bytes, requested: Collection[str], invalid: InvalidParts
) -> list[DescribedGroup]:
    """The described groups; a group with too many members has an error and no members.

    Raises KafkaError, struct.error, ValueError or OverLimit (also for groups not `requested`).
    """
    cursor = Cursor(answer, AFTER_THROTTLE_TIME)
    decoder = _GroupDecoder(cursor, set(requested), invalid)
    return [decoder.group() for _ in range(cursor.array_length(item_bytes_min=18))]


class _GroupDecoder:
    """Decodes group by group, with limits for all groups together."""

    def __init__(self, cursor: Cursor, expected: set[str], invalid: InvalidParts) -> None:
        self._cursor, self._expected, self._invalid = cursor, expected, invalid
        self._members_read = self._topics_read = 0

    def group(self) -> DescribedGroup:
        cursor = self._cursor
        error_code = cursor.i16()
        group, state, protocol = cursor.text() or "", cursor.text() or "", cursor.text() or ""
        remove_expected(self._expected, group)
        cursor.text()  # protocol
        count = cursor.array_length(item_bytes_min=16)
        self._members_read += count
        check_limit(self._members_read, response_limits.MEMBERS_MAX, "too_many_members")
        members = [self._member(group, protocol) for _ in range(count)]
        cursor.skip(4)  # authorized operations
        if count > response_limits.MEMBERS_PER_GROUP_MAX:
            self._invalid.add(Reason("group_members", group=printable(group), n=count))
            return DescribedGroup(group, error_code or _MEMBERS_REFUSED, _short(state), members=())
        return DescribedGroup(group, error_code, _short(state), tuple(members))

    def _member(self, group: str, protocol: str) -> Member:
        cursor = self._cursor
        member_id, _instance, client = cursor.text() or "", cursor.text(), cursor.text() or ""
        host = (cursor.text() or "").lstrip("/")
        cursor.bytes()  # metadata
        assignment = cursor.bytes()
        if max(len(member_id), len(client), len(host)) > response_limits.TEXT_LENGTH_MAX:
            names = {"group": printable(group), "member": printable(member_id)}
            self._invalid.add(Reason("member_names", **names))
            return Member(printable(member_id), printable(client), printable(host), assigned=())
        if protocol != "consumer":
            return Member(member_id, client, host, assigned=())
        topics = Cursor(assignment, 2)  # after the version
        assigned = parse_assignment(topics, response_limits.GROUP_TOPICS_MAX - self._topics_read)
        self._topics_read += topics.items  # malformed assignments count as well
        if assigned is None:
            names = {"group": printable(group), "member": printable(member_id)}
            self._invalid.add(Reason("member_assignment", **names))
            return Member(member_id, client, host, assigned=())
        return Member(member_id, client, host, assigned)


def parse_assignment(cursor: Cursor, topics_max: int) -> tuple[tuple[str, Ints], ...] | None:
    """(topic, partition numbers) of a member; no bytes are an empty assignment.

    None if it is malformed, or has more than `topics_max` topics.
    """
    assigned: list[tuple[str, Ints]] = []
    try:
        count = cursor.numpy_array_length(item_bytes_min=6) if cursor.data else 0
        if count > topics_max:
            return None
        for _ in range(count):
            cursor.count_items(1)
            topic = cursor.text()
            if not topic:
                return None
            partitions = cursor.numpy_array_length(item_bytes_min=4)
            numbers = np.frombuffer(cursor.data, ">i4", partitions, cursor.skip(4 * partitions))
            assigned.append((topic, numbers.astype(np.int32)))
    except (StructError, ValueError):
        return None
    return tuple(assigned)
