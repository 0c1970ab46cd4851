"""Searches on brokerd and on Apache Kafka, each in its process."""

import os
import threading
from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from monitoring.clusters.kafka_client_settings import ClientSettings
from monitoring.gateway.errors import ClusterUnavailable, NotFound, Unreadable
from monitoring.gateway.record_row import RecordRow
from monitoring.records import search_process_client
from monitoring.records.filters import Condition, FilterInvalid
from monitoring.records.search_events import BYTES, COMPLETE, ERROR, LIMIT, SearchProgress
from monitoring.records.search_process_client import RunningSearch
from monitoring.records.search_request import SearchRequest
from tests.support.waiting import wait_until

COUNT = 3000
Searches = Callable[..., tuple[list[RecordRow], SearchProgress]]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def start(address: str, topic: str = "searched", **more) -> RunningSearch:
    host, _, port = address.partition(":")
    spans = more.pop("offset_ranges", {number: range(COUNT) for number in range(len(CODECS))})
    return RunningSearch(SearchRequest(ClientSettings(((host, int(port)),)), topic, spans, **more))


def run(address: str, **more) -> tuple[list[RecordRow], SearchProgress]:
    rows: list[RecordRow] = []
    with start(address, **more) as running:
        for event in running.events():
            if isinstance(event, SearchProgress):
                progress = event
            else:
                rows += event
    return rows, progress


def contains(text: str) -> tuple[Condition]:
    return (Condition("value", "contains", text),)


def fill(address: str) -> str:
    """`searched` has a partition for each codec, each with the same records."""
    for partition, codec in enumerate(CODECS):
        producer = Producer({"bootstrap.servers": address, "compression.type": codec})
        for number in range(COUNT):
            value = b'{"number": %d, "name": "name-%04d"}' % (number, number)
            producer.produce("searched", value, b"key", partition=partition)
        assert producer.flush(30) == 0
    return address


@pytest.fixture(scope="module")
def filled() -> dict[str, str]:
    """Kind of broker → the address of one that has the topic `searched`."""
    return {}


@pytest.fixture(params=["brokerd", pytest.param("kafka", marks=pytest.mark.kafka)])
def address(request, filled, live_cluster) -> str:
    kind = request.param
    if kind not in filled:
        if kind == "brokerd":
            found = live_cluster.brokerd.bootstrap_servers.split(",")[0]
        else:
            found = request.getfixturevalue("shared_kafka").address
        topic = NewTopic("searched", len(CODECS), 1)
        admin = AdminClient({"bootstrap.servers": found})
        admin.create_topics([topic])["searched"].result(30)
        filled[kind] = fill(found)
    return filled[kind]


@pytest.mark.parametrize("newest_first", [True, False])
def test_a_record_is_found_in_each_partition_whatever_its_codec(address, newest_first):
    rows, progress = run(address, conditions=contains("name-0777"), newest_first=newest_first)
    assert sorted((row.partition, row.offset) for row in rows) == [
        (number, 777) for number in range(len(CODECS))
    ]
    assert (progress.end, progress.matched) == (COMPLETE, len(CODECS))
    assert (progress.offsets, progress.offsets_total) == (COUNT * len(CODECS),) * 2
    assert progress.unread == {}


def test_records_of_one_partition_come_in_the_order_that_was_asked_for(address):
    spans = {1: range(100, 2000)}
    rows, _ = run(address, offset_ranges=spans, matches_max=5000, newest_first=True)
    assert [row.offset for row in rows] == list(range(1999, 99, -1))
    rows, progress = run(address, offset_ranges=spans, matches_max=5000, newest_first=False)
    assert [row.offset for row in rows] == list(range(100, 2000))
    assert progress.end == COMPLETE


@pytest.mark.parametrize("newest_first", [True, False])
def test_each_partition_has_its_turn_before_a_search_has_enough(address, newest_first):
    rows, progress = run(address, matches_max=10, newest_first=newest_first)
    assert {row.partition for row in rows} == set(range(len(CODECS)))
    assert progress.end == LIMIT


def test_an_expression_finds_what_it_says(address):
    rows, progress = run(address, expression="record.value.number == 5 || record.offset == 6")
    assert sorted({row.offset for row in rows}) == [5, 6]
    assert (progress.scanned >= COUNT * len(CODECS), progress.failures) == (True, 0)


def test_a_search_ends_at_its_limits(address):
    rows, progress = run(address, matches_max=10, offset_ranges={2: range(COUNT)})
    assert [row.offset for row in rows[:10]] == list(range(COUNT - 1, COUNT - 11, -1))
    assert progress.end == LIMIT
    assert len(rows) < progress.matched == progress.offsets
    _, progress = run(address, conditions=contains("nowhere"), bytes_max=1)
    assert progress.end == BYTES


def test_all_matches_of_what_was_read_are_counted_also_those_that_are_not_sent(address):
    rows, progress = run(address, matches_max=10, offset_ranges={2: range(100), 1: range(50)})
    assert (progress.matched, progress.offsets, progress.end) == (150, 150, LIMIT)
    assert len(rows) == 20


def test_what_is_masked_is_neither_found_nor_sent(address):
    masked = {"masked": ("value.name",), "offset_ranges": {0: range(COUNT)}}
    rows, progress = run(address, conditions=contains("name-0777"), **masked)
    assert (rows, progress.end) == ([], COMPLETE)
    rows, _ = run(address, conditions=contains('"number": 777'), **masked)
    assert [row.offset for row in rows] == [777]
    assert b"name-0777" not in rows[0].value


def test_errors_are_those_of_the_search(address):
    with pytest.raises(NotFound):
        run(address, topic="no-such-topic")
    with pytest.raises(FilterInvalid):
        run(address, expression="1 +")
    with pytest.raises(ClusterUnavailable):
        run("127.0.0.1:1")


def test_a_search_of_which_a_partition_was_not_read_to_its_end_is_not_complete(address):
    spans = {0: range(COUNT), 99: range(COUNT)}
    rows, progress = run(address, conditions=contains("name-0777"), offset_ranges=spans)
    assert (len(rows), progress.end, list(progress.unread)) == (1, ERROR, [99])


def test_a_search_that_is_stopped_leaves_no_process(address):
    running = start(address, conditions=contains("nowhere"))
    pid = running._process.id
    running.stop()
    with pytest.raises(Unreadable):
        list(running.events())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_more_searches_than_allowed_are_refused_and_free_places_are_used(address, monkeypatch):
    monkeypatch.setattr(search_process_client, "_slots", threading.BoundedSemaphore(1))
    with start(address):
        with pytest.raises(ClusterUnavailable, match="running already"):
            start(address)
    assert run(address, matches_max=1)[1].end == LIMIT


def test_the_process_of_a_search_ends_when_its_parent_closes_the_socket(address):
    running = start(address, conditions=contains("nowhere"))
    running._process._connection.close()
    wait_until(lambda: not running._process.is_alive(), "the process has ended")
    running.stop()


def test_matches_of_an_expression_come_in_order_and_once_from_two_scanners(address):
    spans = {1: range(COUNT)}
    for newest_first in (True, False):
        rows, progress = run(
            address, offset_ranges=spans, expression="record.value.number >= 0",
            matches_max=2 * COUNT, newest_first=newest_first,
        )  # fmt: skip
        offsets = [row.offset for row in rows]
        assert offsets == sorted(range(COUNT), reverse=newest_first)
        assert (progress.scanned, progress.end) == (COUNT, COMPLETE)


def test_two_searches_at_once_have_a_core_each(address, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    first = start(address)
    sent = []
    monkeypatch.setattr(first._process, "send", sent.append)
    with first:
        with start(address):
            assert sent == [False]
        assert sent == [False, True]
