import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from monitoring.gateway.wire import groups
from tests.monitoring.gateway.wire.answers import describe_answer, list_answer


def assignment(topics: dict[str, list[int]]) -> bytes:
    out = struct.pack(">hi", 0, len(topics))
    for name, partitions in topics.items():
        encoded = name.encode()
        out += struct.pack(">h", len(encoded)) + encoded
        out += struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    return out + struct.pack(">i", -1)


def plain(assigned):
    return {topic: partitions.tolist() for topic, partitions in assigned}


@given(
    st.dictionaries(st.text(min_size=1, max_size=9), st.lists(st.integers(0, 2**20), max_size=5))
)
def test_an_assignment_is_read_back(topics):
    assert plain(groups.parse_assignment(assignment(topics))) == topics


@given(st.binary(max_size=60))
def test_garbage_assigns_nothing_and_harms_nothing(data):
    groups.parse_assignment(data)


def test_no_bytes_assign_nothing():
    assert groups.parse_assignment(b"") == ()


def test_members_come_with_what_they_own():
    answer = describe_answer({"g": [("m-1", assignment({"a": [0, 2]})), ("m-2", b"")]})
    [group] = groups.decode_describe(answer)
    first, second = group.members
    assert (first.member_id, first.client_id, first.host) == ("m-1", "client", "10.0.0.9")
    assert plain(first.assigned) == {"a": [0, 2]}
    assert second.assigned == ()


def test_another_protocols_assignment_is_not_guessed_at():
    [group] = groups.decode_describe(
        describe_answer({"c": [("m", assignment({"a": [1]}))]}, "connect")
    )
    assert group.members[0].assigned == ()


def test_groups_are_listed_with_their_state():
    error, listed = groups.decode_list(list_answer([("g", "Stable"), ("h", "Empty")]))
    assert error == 0
    assert [(group.group, group.state) for group in listed] == [("g", "Stable"), ("h", "Empty")]


def test_a_torn_list_is_an_error():
    with pytest.raises(KafkaError):
        groups.decode_list(list_answer([("g", "Stable")])[:-3])
