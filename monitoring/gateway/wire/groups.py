"""ListGroups v4 and DescribeGroups v4: which groups a coordinator has, and their members.

An assignment is the consumer protocol's own bytes:

    version i16, topics[name s, partitions[i32]], user data b?

Groups of another protocol type (Kafka Connect …) keep their members without partitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct, error

import numpy as np

from brokerd.protocol import messages
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.metadata import Ints

LIST_KEY, LIST_VERSION = 16, 4
DESCRIBE_KEY, DESCRIBE_VERSION = 15, 4
_I16, _I32 = Struct(">h"), Struct(">i")


@dataclass(frozen=True, slots=True)
class ListedGroup:
    group: str
    state: str
    protocol_type: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One member and what it is assigned: topic → partition numbers."""

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
    """A whole frame that asks for every group in every state."""
    fields: dict[str, object] = {"states_filter": []}
    return messages.encode_request(LIST_KEY, LIST_VERSION, fields, correlation_id, CLIENT_ID)


def decode_list(answer: bytes) -> tuple[int, list[ListedGroup]]:
    """(error code, groups). Raises KafkaError if the answer does not parse."""
    told = messages.decode_response(LIST_KEY, LIST_VERSION, answer)
    groups = [ListedGroup(g.group_id, g.group_state, g.protocol_type) for g in told.groups]
    return int(told.error_code), groups


def describe_request(groups: Sequence[str], correlation_id: int) -> bytes:
    """A whole frame that asks for the members of `groups`."""
    fields = {"groups": list(groups), "include_authorized_operations": False}
    return messages.encode_request(
        DESCRIBE_KEY, DESCRIBE_VERSION, fields, correlation_id, CLIENT_ID
    )


def decode_describe(answer: bytes) -> list[DescribedGroup]:
    """The described groups. Raises KafkaError if the answer does not parse."""
    told = messages.decode_response(DESCRIBE_KEY, DESCRIBE_VERSION, answer)
    return [
        DescribedGroup(
            group.group_id,
            int(group.error_code),
            group.group_state,
            tuple(
                Member(
                    member.member_id,
                    member.client_id,
                    member.client_host.lstrip("/"),
                    parse_assignment(member.member_assignment)
                    if group.protocol_type == "consumer"
                    else (),
                )
                for member in group.members
            ),
        )
        for group in told.groups
    ]


def parse_assignment(data: bytes) -> tuple[tuple[str, Ints], ...]:
    """(topic, partition numbers) of a member; bytes that do not parse assign nothing."""
    assigned: list[tuple[str, Ints]] = []
    try:
        at, count = 6, _I32.unpack_from(data, 2)[0] if data else 0
        for _ in range(count):
            (size,) = _I16.unpack_from(data, at)
            topic = data[at + 2 : at + 2 + size].decode()
            at += 2 + size
            (partitions,) = _I32.unpack_from(data, at)
            numbers = np.frombuffer(data, dtype=">i4", count=partitions, offset=at + 4)
            assigned.append((topic, numbers.astype(np.int32)))
            at += 4 + 4 * partitions
    except (error, ValueError):
        return ()
    return tuple(assigned)
