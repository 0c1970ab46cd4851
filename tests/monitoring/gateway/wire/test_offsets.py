import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brokerd.protocol import messages
from monitoring.gateway.wire import metadata, offsets
from monitoring.gateway.wire.connection import frame
from tests.monitoring.gateway.wire.answers import metadata_answer, offsets_answer


def cluster_of(leaders: dict[str, list[int]]) -> metadata.Metadata:
    topics = {t: {p: (b, (b,), (b,)) for p, b in enumerate(bs)} for t, bs in leaders.items()}
    return metadata.decode(metadata_answer(topics))


leaderships = st.dictionaries(
    st.text("abc", min_size=1, max_size=3), st.lists(st.integers(1, 3), max_size=6), max_size=5
)


@given(leaderships, st.integers(1, 3))
def test_a_leader_is_asked_for_exactly_what_it_leads(leaders, broker):
    body = offsets.request_body(cluster_of(leaders), broker, offsets.LATEST)
    led = {(t, p) for t, bs in leaders.items() for p, b in enumerate(bs) if b == broker}
    if body is None:
        assert led == set()
        return
    sent = frame(offsets.API_KEY, offsets.VERSION, 1, body)
    head = 4 + 2 + 2 + 4 + 2 + len("aerie")
    asked = messages.decode_request(offsets.API_KEY, offsets.VERSION, sent[head:])
    assert {(t.name, p.partition_index) for t in asked.topics for p in t.partitions} == led


def test_offsets_land_in_their_rows_and_errors_leave_theirs_unknown():
    known = cluster_of({"a": [1, 1, 1], "b": [1]})
    array = np.full(known.row_count, offsets.UNKNOWN, dtype=np.int64)
    answer = offsets_answer(
        {"b": {0: (0, 7)}, "a": {2: (0, 2**40), 0: (6, -1)}, "gone": {0: (0, 1)}}
    )
    offsets.decode_into(array, known, answer)
    assert array.tolist() == [-1, -1, 2**40, 7]
