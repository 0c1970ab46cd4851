import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from monitoring.gateway.errors import OverLimit
from monitoring.gateway.wire import offset_fetch, response_limits
from tests.monitoring.gateway.wire.answers import commits_answer

committed = st.tuples(
    st.integers(0, 1000),
    st.integers(-1, 2**50),
    st.none() | st.text(max_size=200),
    st.sampled_from([0, 0, 0, 3]),
)
answers = st.dictionaries(
    st.text(min_size=1, max_size=9),
    st.dictionaries(st.text(min_size=1, max_size=9), st.lists(committed, max_size=5), max_size=3),
    max_size=4,
)


@given(answers)
def test_every_commit_is_read_whatever_its_metadata(told):
    found = {
        group.group: {
            topic.topic: list(zip(topic.partitions.tolist(), topic.offsets.tolist(), strict=True))
            for topic in group.topics
        }
        for group in offset_fetch.decode(commits_answer(told), told)
    }
    assert found == {
        group: {
            topic: [(p, offset) for p, offset, _, error in rows if error == 0]
            for topic, rows in topics.items()
        }
        for group, topics in told.items()
    }


def test_an_error_of_a_group_is_returned():
    [group] = offset_fetch.decode(commits_answer({"g": {}}, error=14), ["g"])
    assert (group.error, group.topics) == (14, ())


def test_one_request_reads_many_groups():
    sent = offset_fetch.request([f"g-{n}" for n in range(300)], 5)
    head = 4 + 2 + 2 + 4 + 2 + len("aerie") + 1
    asked = messages.decode_request(offset_fetch.API_KEY, offset_fetch.VERSION, sent[head:])
    assert [group.group_id for group in asked.groups] == [f"g-{n}" for n in range(300)]
    assert all(group.topics is None for group in asked.groups)


@given(st.integers(5, 60))
def test_a_truncated_answer_raises_an_error(length):
    answer = commits_answer({"group": {"topic": [(0, 5, "", 0), (1, 6, "some", 0)]}})
    if length >= len(answer):
        return
    with pytest.raises((KafkaError, ValueError, struct.error)):
        offset_fetch.decode(answer[:length], ["group"])


@pytest.mark.parametrize("asked", [[], ["h"], ["h", "i"]])
def test_a_group_that_was_not_requested_is_refused(asked):
    with pytest.raises(OverLimit, match="group g was not requested"):
        offset_fetch.decode(commits_answer({"g": {}}), asked)


def test_a_group_that_occurs_twice_is_refused():
    twice = _groups(2, b"\x02g\x01\x00\x00\x00")
    with pytest.raises(OverLimit, match="group g was not requested"):
        offset_fetch.decode(twice, ["g", "h"])


def test_an_answer_of_the_smallest_groups_is_refused_before_they_are_read():
    many = _groups(1 + response_limits.ANSWER_ITEMS_MAX, b"\x01\x01\x00\x00\x00")
    with pytest.raises(OverLimit, match="more than 500000 items in one answer"):
        offset_fetch.decode(many, ["g"])


def test_partitions_that_are_read_one_by_one_and_tagged_fields_are_counted(monkeypatch):
    monkeypatch.setattr(response_limits, "ANSWER_ITEMS_MAX", 5)
    rows = [(partition, 5, "", 0) for partition in range(9)]
    [group] = offset_fetch.decode(commits_answer({"g": {"a": rows}}), ["g"])
    assert len(group.topics[0].partitions) == 9
    with pytest.raises(OverLimit, match="more than 5 items"):
        offset_fetch.decode(commits_answer({"g": {"a": [*rows, (9, 5, "some", 0)]}}), ["g"])
    tags = b"".join(bytes((tag, 0)) for tag in range(5))
    assert len(offset_fetch.decode(_groups(1, b"\x02g\x01\x00\x00\x04" + tags[:8]), ["g"])) == 1
    with pytest.raises(OverLimit, match="more than 5 items"):
        offset_fetch.decode(_groups(1, b"\x02g\x01\x00\x00\x05" + tags), ["g"])


def _groups(count, group):
    """An answer of `count` times the bytes of `group`."""
    lengths, left = bytearray(), count + 1
    while left > 127:
        lengths.append(left & 127 | 128)
        left >>= 7
    head = bytes(4 + 1 + 4)  # correlation id, no tags, throttle
    return head + lengths + bytes((left,)) + group * count + b"\x00"
