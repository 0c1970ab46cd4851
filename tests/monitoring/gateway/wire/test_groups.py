import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from monitoring.gateway.errors import OverLimit
from monitoring.gateway.wire import groups, response_limits
from monitoring.gateway.wire.cursor import Cursor
from monitoring.gateway.wire.response_limits import InvalidParts
from tests.monitoring.gateway.wire.answers import describe_answer, list_answer
from tests.support.hostile_http import MIB, memory_below


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
def test_an_assignment_is_decoded(topics):
    assert plain(groups.parse_assignment(Cursor(assignment(topics), 2), 100)) == topics


@given(st.binary(max_size=60))
def test_a_malformed_assignment_is_ignored(data):
    groups.parse_assignment(Cursor(data, 2), 10)


def test_an_empty_assignment_has_no_partitions():
    assert groups.parse_assignment(Cursor(b"", 2), 10) == ()


def test_members_have_their_partitions():
    answer = describe_answer({"g": [("m-1", assignment({"a": [0, 2]})), ("m-2", b"")]})
    [group] = groups.decode_describe(answer, ["g"], InvalidParts())
    first, second = group.members
    assert (first.member_id, first.client_id, first.host) == ("m-1", "client", "10.0.0.9")
    assert plain(first.assigned) == {"a": [0, 2]}
    assert second.assigned == ()


def test_assignments_of_other_protocols_are_not_decoded():
    [group] = groups.decode_describe(
        describe_answer({"c": [("m", assignment({"a": [1]}))]}, "connect"), ["c"], InvalidParts()
    )
    assert group.members[0].assigned == ()


def test_groups_are_listed_with_their_state():
    answer = list_answer([("g", "Stable"), ("h", "Empty")])
    error, listed = groups.decode_list(answer, InvalidParts())
    assert error == 0
    assert [(group.group, group.state) for group in listed] == [("g", "Stable"), ("h", "Empty")]


def test_a_truncated_list_raises_an_error():
    with pytest.raises((KafkaError, ValueError, struct.error)):
        groups.decode_list(list_answer([("g", "Stable")])[:-3], InvalidParts())


def test_names_of_negative_length_neither_hang_nor_fill_the_memory():
    times = 8000  # back to the count of topics, which is read as one of partitions, and so on
    data = struct.pack(">hih", 0, times, -6) + bytes(4 * times - 2)
    data += struct.pack(">h", -4 * times - 6)
    with memory_below(16 * MIB):
        assert groups.parse_assignment(Cursor(data, 2), 10_000) is None


def test_an_assignment_with_too_many_topics_is_refused_before_it_is_read():
    data = assignment({str(number): [] for number in range(11)})
    assert groups.parse_assignment(Cursor(data, 2), 10) is None


def described(told, invalid):
    found = groups.decode_describe(describe_answer(told), told, invalid)
    return {group.group: group for group in found}


@pytest.mark.parametrize("asked", [[], ["h"]])
def test_members_of_a_group_that_was_not_requested_are_refused(asked):
    with pytest.raises(OverLimit, match="group g was not requested"):
        groups.decode_describe(describe_answer({"g": []}), asked, InvalidParts())


def test_topics_before_bytes_that_do_not_parse_count_as_well(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_TOPICS_MAX", 5)
    torn = assignment({str(number): [] for number in range(4)} | {"": []})
    invalid = InvalidParts()
    found = described({"g": [("torn", torn), ("good", assignment({"a": [1]}))]}, invalid)
    assert [plain(member.assigned) for member in found["g"].members] == [{}, {}]
    assert invalid.messages() == [
        f"group g: the assignment of member {member}, which cannot be read"
        for member in ("torn", "good")
    ]


def test_a_member_with_too_many_topics_is_left_without_them_and_reported(monkeypatch):
    monkeypatch.setattr(response_limits, "GROUP_TOPICS_MAX", 3)
    big, small = assignment({str(number): [] for number in range(4)}), assignment({"a": [1]})
    invalid = InvalidParts()
    found = described({"g": [("big", big), ("small", small)]}, invalid)
    assert [plain(member.assigned) for member in found["g"].members] == [{}, {"a": [1]}]
    assert invalid.messages() == ["group g: the assignment of member big, which cannot be read"]


def test_a_group_with_too_many_members_is_reported_without_them_and_the_others_with_theirs(
    monkeypatch,
):
    monkeypatch.setattr(response_limits, "MEMBERS_PER_GROUP_MAX", 2)
    invalid = InvalidParts()
    many = [(f"m-{number}", b"") for number in range(3)]
    found = described({"crowd": many, "g": many[:2]}, invalid)
    assert (found["crowd"].error != 0, found["crowd"].members) == (True, ())
    assert len(found["g"].members) == 2
    assert invalid.messages() == ["group crowd: 3 members"]


def test_names_that_are_too_long_are_left_out():
    invalid = InvalidParts()
    _, listed = groups.decode_list(list_answer([("g" * 1001, "Stable"), ("h", "S" * 300)]), invalid)
    assert [(group.group, group.state) for group in listed] == [("h", "?")]
    found = described({"g": [("m" * 300, assignment({"a": [1]}))]}, invalid)
    assert plain(found["g"].members[0].assigned) == {}
    assert len(invalid.messages()) == 2


def test_more_members_than_a_cluster_may_have_refuse_the_answer(monkeypatch):
    monkeypatch.setattr(response_limits, "MEMBERS_MAX", 2)
    with pytest.raises(OverLimit, match="members"):
        described({"g": [(str(number), b"") for number in range(3)]}, InvalidParts())
