"""The times of last records: the bytes are read by kio, another implementation."""

from struct import error as StructError

import numpy as np
import pytest

from brokerd.errors import KafkaError
from brokerd.protocol import messages
from monitoring.gateway.wire import last_records
from monitoring.gateway.wire.response_limits import TIME_MS_MAX
from tests.monitoring.gateway.wire.answers import decoded_metadata, last_records_answer

PLACE = (1, (1,), (1,))
KNOWN = decoded_metadata({"a": {0: PLACE, 1: PLACE, 2: PLACE}, "b": {0: PLACE}})


def times(rows, topics) -> list[int]:
    found = np.full(KNOWN.row_count, -1, dtype=np.int64)
    last_records.decode_into(found, KNOWN, np.array(rows), last_records_answer(topics))
    return found.tolist()


def test_a_request_asks_for_the_largest_timestamp_of_these_rows():
    sent = last_records.request(KNOWN, np.array([0, 2, 3]), 7)
    head = 4 + 2 + 2 + 4 + 2 + len("aerie") + 1
    asked = messages.decode_request(last_records.API_KEY, last_records.VERSION, sent[head:])
    assert [(t.name, [p.partition_index for p in t.partitions]) for t in asked.topics] == [
        ("a", [0, 2]),
        ("b", [0]),
    ]
    assert {p.timestamp for t in asked.topics for p in t.partitions} == {-3}


def test_times_are_put_into_their_rows_and_errors_stay_unknown():
    topics = {"b": {0: (0, 900, 4)}, "a": {0: (0, 700, 5), 2: (6, -1, -1)}}
    assert times([0, 2, 3], topics) == [700, -1, -1, 900]


def test_a_partition_without_a_timestamp_has_no_record():
    assert times([0, 1], {"a": {0: (0, -1, -1), 1: (0, -1, 5)}})[:2] == [
        last_records.NO_RECORD,
        last_records.NO_RECORD,
    ]


@pytest.mark.parametrize("index", [1, 3, -1, 2**31 - 1])
def test_partitions_that_were_not_asked_for_are_ignored(index):
    assert times([0], {"a": {index: (0, 5, 5)}, "gone": {0: (0, 6, 6)}}) == [-1, -1, -1, -1]


def test_a_time_that_no_calendar_has_is_the_last_one_that_has():
    assert times([0], {"a": {0: (0, 2**62, 5)}})[0] == TIME_MS_MAX


def test_a_cut_answer_raises_and_does_not_loop():
    whole = last_records_answer({"a": {0: (0, 5, 5)}, "b": {0: (0, 6, 6)}})
    for size in range(4, len(whole) - 1):
        found = np.full(KNOWN.row_count, -1, dtype=np.int64)
        with pytest.raises((ValueError, IndexError, StructError, KafkaError)):
            last_records.decode_into(found, KNOWN, np.array([0]), whole[:size])
