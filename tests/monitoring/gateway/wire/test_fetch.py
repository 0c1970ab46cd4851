"""The versions of Fetch, and which batch of a response holds an offset."""

from datetime import timedelta

import pytest

from brokerd.protocol import messages
from monitoring.gateway.wire import fetch
from monitoring.gateway.wire.fetch import batch_header_at
from tests.brokerd.log.support import batch


def stamped(base_offset: int, count: int) -> bytes:
    return base_offset.to_bytes(8, "big") + bytes(batch(count=count))[8:]


_HEADER_BYTES = 4 + 2 + 2 + 4 + 2 + len("aerie")  # size, api, version, correlation id, client id
TWO = stamped(10, 3) + stamped(20, 2)


@pytest.mark.parametrize(("offset", "base"), [(10, 10), (12, 10), (20, 20), (21, 20)])
def test_the_batch_that_holds_an_offset_is_found(offset, base):
    header = batch_header_at(memoryview(TWO), offset)
    assert header is not None
    assert header.base_offset == base


@pytest.mark.parametrize("offset", [9, 15, 22])
def test_no_batch_holds_offsets_before_between_and_after(offset):
    assert batch_header_at(memoryview(TWO), offset) is None


def test_older_formats_and_cut_batches_have_no_header():
    assert batch_header_at(memoryview(TWO[:40]), 10) is None
    old = bytearray(TWO)
    old[16] = 1
    assert batch_header_at(memoryview(bytes(old)), 10) is None
    senseless = TWO[:8] + (-70).to_bytes(4, "big", signed=True) + TWO[12:]
    assert batch_header_at(memoryview(senseless), 10) is None


@pytest.mark.parametrize("version", fetch.VERSIONS)
def test_requests_and_responses_of_each_version_are_those_of_another_implementation(version):
    frame = fetch.request("orders", 3, 17, 1000, 50, version, 7)
    request = messages.decode_request(fetch.API_KEY, version, frame[_HEADER_BYTES:])
    [topic] = request.topics
    [place] = topic.partitions
    assert (topic.topic, place.partition, place.fetch_offset) == ("orders", 3, 17)
    assert (int(place.partition_max_bytes), int(request.isolation_level)) == (1000, 1)
    partition = {
        "partition_index": 3, "error_code": 0, "high_watermark": 30, "last_stable_offset": 29,
        "aborted_transactions": [{"producer_id": 5, "first_offset": 18}], "records": TWO,
    }  # fmt: skip
    fields = {"responses": [{"topic": "orders", "partitions": [partition]}]}
    body = messages.encode_response(fetch.API_KEY, version, fields)
    answer = messages.response_frame(fetch.API_KEY, version, 7, body)[4:]
    found = fetch.decode(answer, version)
    assert found == fetch.FetchedRecords(0, 29, ((5, 18),), memoryview(TWO))


@pytest.mark.parametrize("version", fetch.VERSIONS)
def test_an_answer_without_topics_says_how_long_a_quota_delays(version):
    body = messages.encode_response(
        fetch.API_KEY, version, {"throttle_time": timedelta(seconds=1.5), "responses": []}
    )
    answer = messages.response_frame(fetch.API_KEY, version, 7, body)[4:]
    assert fetch.decode(answer, version) == fetch.Throttled(1.5)
