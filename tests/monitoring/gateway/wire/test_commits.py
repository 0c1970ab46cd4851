import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from monitoring.gateway.wire import commits
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
        for group in commits.decode(commits_answer(told))
    }
    assert found == {
        group: {
            topic: [(p, offset) for p, offset, _, error in rows if error == 0]
            for topic, rows in topics.items()
        }
        for group, topics in told.items()
    }


def test_a_groups_error_is_kept():
    [group] = commits.decode(commits_answer({"g": {}}, error=14))
    assert (group.error, group.topics) == (14, ())


def test_many_groups_are_asked_for_in_one_request():
    sent = commits.request([f"g-{n}" for n in range(300)], 5)
    head = 4 + 2 + 2 + 4 + 2 + len("aerie") + 1
    asked = messages.decode_request(commits.API_KEY, commits.VERSION, sent[head:])
    assert [group.group_id for group in asked.groups] == [f"g-{n}" for n in range(300)]
    assert all(group.topics is None for group in asked.groups)


@given(st.integers(5, 60))
def test_a_torn_answer_is_an_error(length):
    answer = commits_answer({"group": {"topic": [(0, 5, "", 0), (1, 6, "some", 0)]}})
    if length >= len(answer):
        return
    with pytest.raises((KafkaError, ValueError, struct.error)):
        commits.decode(answer[:length])
