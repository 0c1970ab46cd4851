import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.protocol import messages
from monitoring.gateway.wire import list_offsets, metadata
from monitoring.gateway.wire.connection import frame
from monitoring.gateway.wire.response_limits import InvalidParts
from tests.monitoring.gateway.wire.answers import decoded_metadata, offsets_answer


def cluster_of(leaders: dict[str, list[int]]) -> metadata.Metadata:
    topics = {t: {p: (b, (b,), (b,)) for p, b in enumerate(bs)} for t, bs in leaders.items()}
    return decoded_metadata(topics)


leaderships = st.dictionaries(
    st.text("abc", min_size=1, max_size=3), st.lists(st.integers(1, 3), max_size=6), max_size=5
)


@given(leaderships, st.integers(1, 3))
def test_a_request_has_exactly_the_partitions_of_the_leader(leaders, broker):
    body = list_offsets.request_body(cluster_of(leaders), broker, list_offsets.LATEST)
    led = {(t, p) for t, bs in leaders.items() for p, b in enumerate(bs) if b == broker}
    sent = frame(list_offsets.API_KEY, list_offsets.VERSION, 1, body)
    head = 4 + 2 + 2 + 4 + 2 + len("aerie")
    asked = messages.decode_request(list_offsets.API_KEY, list_offsets.VERSION, sent[head:])
    assert {(t.name, p.partition_index) for t in asked.topics for p in t.partitions} == led


def told(known: metadata.Metadata, topics: dict) -> tuple[list[int], list[str]]:
    """What the first broker's answer amounts to, and what of it is invalid."""
    array = np.full(known.row_count, list_offsets.UNKNOWN, dtype=np.int64)
    invalid = InvalidParts()
    list_offsets.decode_into(array, known, 1, offsets_answer(topics), invalid)
    return array.tolist(), invalid.messages()


def test_offsets_are_put_into_their_rows_and_errors_stay_unknown():
    known = cluster_of({"a": [1, 1, 1], "b": [1]})
    answer = {"b": {0: (0, 7)}, "a": {2: (0, 2**40), 0: (6, -1)}, "gone": {0: (0, 1)}}
    assert told(known, answer) == ([-1, -1, 2**40, 7], [])


@pytest.mark.parametrize("index", [1, 3, -1, 2**31 - 1, -(2**31)])
def test_an_offset_of_an_unknown_partition_is_ignored(index):
    known = cluster_of({"a": [1], "b": [1, 1, 1]})
    found, invalid = told(known, {"a": {index: (0, 99)}, "b": {0: (0, 7)}})
    assert found == [-1, 7, -1, -1]
    assert invalid == ["topic a: invalid offsets"]


def test_offsets_of_other_leaders_partitions_and_invalid_offsets_are_ignored():
    known = cluster_of({"a": [1, 2, 1]})
    found, invalid = told(known, {"a": {0: (0, 5), 1: (0, 6), 2: (0, 2**53)}})
    assert found == [5, -1, -1]
    assert invalid == ["topic a: invalid offsets"]
