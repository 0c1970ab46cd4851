import base64
import struct
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from monitoring.gateway.errors import OverLimit
from monitoring.gateway.wire import metadata, response_limits
from monitoring.gateway.wire.connection import CLIENT_ID
from tests.monitoring.gateway.wire import answers
from tests.monitoring.gateway.wire.answers import decoded_metadata, metadata_answer, topic_id

ids = st.lists(st.integers(1, 9), max_size=4, unique=True).map(tuple)
partitions = st.dictionaries(st.integers(0, 20), st.tuples(st.integers(-1, 9), ids, ids))
clusters = st.dictionaries(st.text(min_size=1, max_size=12), partitions, max_size=5)


# The bytes in front of a request's body: size, header, and from version 9 on the tags.
HEAD = {7: 14 + len(CLIENT_ID), 12: 15 + len(CLIENT_ID)}
both = pytest.mark.parametrize("version", metadata.VERSIONS)


def rows(known):
    topics, numbers = known.topic_of_row(), known.partition_of_row()
    for row in range(known.row_count):
        lists = [
            tuple(lists.values[lists.offsets[row] : lists.offsets[row + 1]].tolist())
            for lists in (known.replicas, known.isr)
        ]
        yield known.topics[topics[row]], int(numbers[row]), int(known.leaders[row]), *lists


@both
@given(clusters)
def test_every_partition_becomes_its_row(version, topics):
    known = decoded_metadata(topics, version)
    told = {(t, p): (leader, *lists) for t, p, leader, *lists in rows(known)}
    for name, found in topics.items():
        for number in range(len(found)):
            assert told.pop((name, number)) == found.get(number, (-1, (), ()))
    assert told == {}


def test_a_partition_beyond_its_topics_count_is_refused_and_reported():
    one = (1, (1,), (1,))
    known = decoded_metadata({"a": {0: one, 20_000_000: one}, "b": {-1: one}})
    assert [row[:3] for row in rows(known)] == [("a", 0, 1), ("a", 1, -1), ("b", 0, -1)]
    assert known.invalid.messages() == [
        "topic a: partition 20000000, but it has 2 partitions",
        "topic b: partition -1, but it has 1 partitions",
    ]


@given(clusters)
def test_a_topics_rows_are_one_span_in_order(topics):
    known = decoded_metadata(topics)
    where = [(t, p) for t, p, *_ in rows(known)]
    assert where == sorted(where)
    for name, span in known.rows_by_topic.items():
        assert [where[row] for row in span] == [(name, p) for p in range(len(span))]


@both
def test_brokers_and_controller_are_reported(version):
    known = decoded_metadata({}, version, brokers=(2, 1), controller=-1)
    assert known.brokers == (
        metadata.Broker(1, "host-1", 9091, None),
        metadata.Broker(2, "host-2", 9092, "r"),
    )
    assert known.controller_id is None
    assert known.cluster_id == "the-cluster"


@both
@given(st.integers(8, 400))
def test_a_truncated_answer_raises_an_error_and_never_returns_metadata(version, length):
    topics = {"a": {0: (1, (1, 2, 3), (1, 2))}, "b": {0: (1, (1,), (1,))}}
    answer = metadata_answer(topics, version=version)
    # Behind the topics version 12 has a byte of tags, which is not read.
    if length >= len(answer) - 1:
        return
    with pytest.raises((struct.error, ValueError, KafkaError)):
        metadata.decode(answer[:length], version)


def test_topics_have_their_ids_as_kafka_writes_them():
    known = decoded_metadata({"b": {0: ONE}, "a": {0: ONE}})
    texts = [base64.urlsafe_b64encode(topic_id(name).bytes).decode()[:22] for name in "ab"]
    assert known.topic_ids == tuple(texts)


def test_without_topic_ids_they_are_empty(monkeypatch):
    assert decoded_metadata({"a": {0: ONE}}, metadata.WITHOUT_IDS).topic_ids == ("",)
    monkeypatch.setattr(answers, "topic_id", lambda _: uuid.UUID(int=0))
    assert decoded_metadata({"a": {0: ONE}}).topic_ids == ("",)


@both
@pytest.mark.parametrize(("topics", "named"), [(None, None), ([], []), (["a"], ["a"])])
def test_a_request_names_its_topics_and_creates_none(version, topics, named):
    sent = metadata.request(topics, version, 5)
    asked = messages.decode_request(metadata.API_KEY, version, sent[HEAD[version] :])
    found = None if asked.topics is None else [each.name for each in asked.topics]
    assert (found, asked.allow_auto_topic_creation) == (named, False)


def test_more_replicas_than_fit_one_byte_of_length_are_read():
    many = tuple(range(1, 200))
    known = decoded_metadata({"a": {0: (1, many, ())}})
    assert known.replicas.values.tolist() == list(many)


ONE = (1, (1,), (1,))


@pytest.mark.parametrize(
    ("limit", "count", "said"),
    [
        ("PARTITIONS_MAX", 3, "partitions"),
        ("TOPICS_MAX", 1, "topics"),
        ("BROKERS_MAX", 1, "brokers"),
        ("BROKER_IDS_MAX", 7, "replicas"),
    ],
)
def test_a_cluster_beyond_a_limit_is_refused_as_a_whole(monkeypatch, limit, count, said):
    answer = metadata_answer({"a": {0: ONE, 1: ONE}, "b": {0: ONE, 1: ONE}})
    metadata.decode(answer, metadata.WITH_IDS)
    monkeypatch.setattr(response_limits, limit, count)
    with pytest.raises(OverLimit, match=f"more than {count} {said}"):
        metadata.decode(answer, metadata.WITH_IDS)


def test_a_broker_with_an_invalid_port_is_refused():
    with pytest.raises(OverLimit, match="port 70000"):
        decoded_metadata({}, address=("host", 70_000))


def test_topics_with_empty_or_too_long_names_are_left_out_and_reported():
    known = decoded_metadata({"": {0: ONE}, "x" * 250: {0: ONE}, "a": {0: ONE}})
    assert known.topics == ("a",)
    assert len(known.invalid.messages()) == 2


def test_a_partition_with_more_replicas_than_brokers_is_refused(monkeypatch):
    monkeypatch.setattr(response_limits, "BROKERS_MAX", 2)
    with pytest.raises(OverLimit, match="more than 2 replicas of one partition"):
        decoded_metadata({"a": {0: (1, (1, 2, 3), ())}})


def test_replicas_that_are_offline_count_as_well(monkeypatch):
    monkeypatch.setattr(response_limits, "BROKER_IDS_MAX", 3)
    with pytest.raises(OverLimit, match="more than 3 replicas"):
        decoded_metadata({"a": {0: (1, (1, 2), (1,))}})
