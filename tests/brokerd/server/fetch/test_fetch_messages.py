"""Fetch over the wire: by name and by id, with a session and without, committed or not."""

import os
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import httpx
import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.io.page_cache import is_cached
from brokerd.log.log_context import LogContext
from brokerd.log.unified_log import UnifiedLog
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.fetch_request import READ_COMMITTED, FetchPartition, FetchRequest
from brokerd.protocol.records import Record, encode_batch, iter_batches
from brokerd.replication.partition import Partition
from brokerd.server.fetch.fetch_session_cache import FetchSessionCache
from brokerd.server.fetch.read_from_log import FetchAttempt, led_partition
from tests.brokerd.log.support import batch, open_log
from tests.brokerd.replication.support import state
from tests.brokerd.server.led import led
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.wire import Wire

_numbers = count()
VERSIONS = [4, 7, 9, 11, 12, 13, 15, 17]


@pytest.fixture
def wire(brokers: BrokerdCluster) -> Iterator[Wire]:
    with Wire(brokers.brokers[0].port) as connection:
        yield connection


@pytest.fixture
def topic(led_by) -> str:
    return led_by(f"fetched-{next(_numbers)}", 1)


def topic_id(wire: Wire, name: str) -> UUID:
    (found,) = wire.ask(ApiKey.METADATA, 12, {"topics": [{"name": name}]}).topics
    assert found.topic_id.int
    return found.topic_id


def produce(wire: Wire, topic: str, value: bytes = b"v") -> None:
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, None, value)]))
    fields = {"acks": -1, "timeout": 5000, "topic_data": [
        {"name": topic, "partition_data": [{"index": 0, "records": records}]}]}  # fmt: skip
    answer = wire.ask(ApiKey.PRODUCE, 8, fields)
    assert answer.responses[0].partition_responses[0].error_code == 0


def partition(offset: int = 0, index: int = 0, **changes: Any) -> dict[str, Any]:
    asked = {"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    return {**asked, **changes}


def fetch(
    wire: Wire,
    version: int,
    topics: list[tuple[str | UUID, list[dict[str, Any]]]],
    *,
    session: tuple[int, int] = (0, -1),
    forgotten: list[tuple[str | UUID, list[int]]] | None = None,
    wait_ms: int = 0,
    isolation: int = 0,
) -> Any:
    key = "topic_id" if version >= 13 else "topic"
    fields: dict[str, Any] = {
        "max_wait": wait_ms, "min_bytes": 1, "max_bytes": 1 << 20, "isolation_level": isolation,
        "topics": [{key: name, "partitions": rows} for name, rows in topics],
    }  # fmt: skip
    if version < 15:
        fields["replica_id"] = -1
    if version >= 7:
        fields |= {"session_id": session[0], "session_epoch": session[1]}
        fields["forgotten_topics_data"] = [
            {key: name, "partitions": rows} for name, rows in forgotten or []
        ]
    return wire.ask(ApiKey.FETCH, version, fields)


def rows(answer: Any) -> list[Any]:
    return [each for topic in answer.responses for each in topic.partitions]


def codes(answer: Any) -> list[ErrorCode]:
    return [ErrorCode(int(each.error_code)) for each in rows(answer)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("isolation", [0, 1])
def test_every_version_gets_the_records(
    wire: Wire, topic: str, version: int, isolation: int
) -> None:
    produce(wire, topic)
    name = topic_id(wire, topic) if version >= 13 else topic
    (row,) = rows(fetch(wire, version, [(name, [partition()])], isolation=isolation))
    assert (row.error_code, row.high_watermark, row.last_stable_offset) == (0, 1, 1)
    assert b"v" in row.records
    assert row.aborted_transactions == (() if isolation else None)


def test_a_topic_id_is_one_of_the_topics_or_refused(wire: Wire, topic: str) -> None:
    answer = fetch(wire, 13, [(UUID(int=77), [partition()]), (topic_id(wire, topic), [
        partition(), partition(index=9)])])  # fmt: skip
    assert codes(answer) == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert answer.responses[1].topic_id == UUID(int=77)


def test_topic_ids_stay_over_deletion_of_a_namesake(wire: Wire, ask_controller, led_by) -> None:
    name = led_by(f"renewed-{next(_numbers)}", 1)
    old = topic_id(wire, name)
    deleted = ask_controller(ApiKey.DELETE_TOPICS, 3, {"topic_names": [name], "timeout": 10_000})
    assert deleted.responses[0].error_code == 0
    led_by(name, 1)
    new = topic_id(wire, name)
    assert new != old
    assert codes(fetch(wire, 17, [(old, [partition()]), (new, [partition()])])) == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_ID,
    ]


def test_a_log_of_another_topic_id_than_the_clusters_is_not_read() -> None:
    """A topic was made anew and its log here is still that of its namesake."""
    new = UUID(int=2)
    stale = SimpleNamespace(log=SimpleNamespace(topic_id=UUID(int=1)))
    image = SimpleNamespace(names_by_id={new.bytes: "t"})
    stale_led: Any = SimpleNamespace(
        image=image, get_partition_or_error=lambda topic, index, epoch: stale
    )
    with pytest.raises(KafkaError) as caught:
        led_partition(stale_led, FetchPartition("", 0, 0, 1, topic_id=new.bytes))
    assert caught.value.code is ErrorCode.INCONSISTENT_TOPIC_ID


@pytest.mark.parametrize("at", ["read", "aborted_transactions"])
def test_what_fails_unexpectedly_leaves_no_file_pinned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    context = LogContext()
    partitions = []
    for index in range(2):
        one = Partition("t", index, 1, open_log(tmp_path / str(index), context=context))
        one.apply(state(1, leader=1, partition=index, replicas=(1,), isr=(1,)), 0)
        one.append([batch()], 0)
        partitions.append(one)
    sound = getattr(UnifiedLog, at)

    def fails_for_one(log: UnifiedLog, *arguments: Any, **options: Any) -> Any:
        if log is partitions[1].log:
            raise RuntimeError
        return sound(log, *arguments, **options)

    monkeypatch.setattr(UnifiedLog, at, fails_for_one)
    wanted = [FetchPartition("t", index, 0, 1 << 20) for index in range(2)]
    asked = FetchRequest(-1, 0, 1, 1 << 20, READ_COMMITTED, 0, -1, wanted, [])
    fetch = FetchSessionCache(1, lambda: 1).begin(asked, False, 0)
    known = led(lambda _, index: partitions[index])
    with pytest.raises(RuntimeError):
        FetchAttempt(known, 1 << 20, asked, fetch).read(fetch.next_partitions())
    assert [file.pins for file in context.files._open] == [0, 0]


def test_another_leader_is_named_with_where_it_is(
    wire: Wire, led_by, brokers: BrokerdCluster
) -> None:
    name = led_by(f"elsewhere-{next(_numbers)}", 2)
    answer = fetch(wire, 16, [(topic_id(wire, name), [partition()])])
    assert codes(answer) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    (row,) = rows(answer)
    assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (2, 0)
    (node,) = answer.node_endpoints
    assert (node.node_id, node.port) == (2, brokers.brokers[1].port)


def test_a_log_that_left_the_leaders_is_told_where(wire: Wire, topic: str) -> None:
    produce(wire, topic)
    (row,) = rows(fetch(wire, 12, [(topic, [partition(5, last_fetched_epoch=0)])]))
    assert row.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    produced = [partition(0, last_fetched_epoch=0), partition(1, last_fetched_epoch=0)]
    for asked in produced:
        (row,) = rows(fetch(wire, 12, [(topic, [asked])]))
        assert (row.error_code, row.diverging_epoch.epoch) == (0, -1)


@pytest.mark.parametrize("version", [7, 12, 13, 17])
def test_a_session_is_told_what_is_new_and_no_more(wire: Wire, led_by, version: int) -> None:
    names = [led_by(f"session-{next(_numbers)}", 1) for _ in range(2)]
    first, second = (topic_id(wire, n) if version >= 13 else n for n in names)
    full = fetch(wire, version, [(first, [partition()]), (second, [partition()])], session=(0, 0))
    assert full.session_id > 0
    assert len(rows(full)) == 2
    nothing = fetch(wire, version, [], session=(full.session_id, 1))
    assert (nothing.error_code, nothing.session_id, rows(nothing)) == (0, full.session_id, [])
    produce(wire, names[1])
    news = fetch(wire, version, [], session=(full.session_id, 2))
    (told,) = news.responses
    assert (told.topic_id if version >= 13 else told.topic) == second
    assert b"v" in told.partitions[0].records
    produce(wire, names[0])
    moved = [(second, [partition(1)])]
    after = fetch(wire, version, moved, session=(full.session_id, 3), forgotten=[(first, [0])])
    assert rows(after) == []


def test_a_session_that_waits_is_woken_by_a_record(
    wire: Wire, topic: str, brokers: BrokerdCluster
) -> None:
    full = fetch(wire, 11, [(topic, [partition()])], session=(0, 0))
    fields = {"replica_id": -1, "max_wait": 20_000, "min_bytes": 1, "max_bytes": 1 << 20,
              "isolation_level": 0, "session_id": full.session_id, "session_epoch": 1,
              "topics": [], "forgotten_topics_data": []}  # fmt: skip
    wire.request(ApiKey.FETCH, 11, fields)
    with Wire(brokers.brokers[0].port) as other:
        produce(other, topic)
    (row,) = rows(wire.answer(ApiKey.FETCH, 11))
    assert b"v" in row.records


@pytest.mark.parametrize("version", [11, 13])
def test_a_session_waits_for_min_bytes_of_partitions_that_had_nothing_new(
    wire: Wire, topic: str, brokers: BrokerdCluster, version: int
) -> None:
    name = topic_id(wire, topic) if version >= 13 else topic
    session_id = fetch(wire, version, [(name, [partition()])], session=(0, 0)).session_id
    for epoch in (1, 2):
        assert rows(fetch(wire, version, [], session=(session_id, epoch))) == []
    fields = {"replica_id": -1, "max_wait": 20_000, "min_bytes": 100, "max_bytes": 1 << 20,
              "isolation_level": 0, "session_id": session_id, "session_epoch": 3,
              "topics": [], "forgotten_topics_data": []}  # fmt: skip
    wire.request(ApiKey.FETCH, version, fields)
    with Wire(brokers.brokers[0].port) as other:
        produce(other, topic, b"first")
        produce(other, topic, b"second")
    (row,) = rows(wire.answer(ApiKey.FETCH, version))
    assert b"first" in row.records
    assert b"second" in row.records


def test_session_errors_stand_at_the_top(wire: Wire, topic: str) -> None:
    assert fetch(wire, 11, [], session=(12345, 1)).error_code == (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )
    full = fetch(wire, 11, [(topic, [partition()])], session=(0, 0))
    wrong = fetch(wire, 11, [], session=(full.session_id, 5))
    assert wrong.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    mixed = fetch(wire, 13, [], session=(full.session_id, 1))
    assert mixed.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    assert fetch(wire, 11, [], session=(full.session_id, 1)).error_code == 0
    ended = fetch(wire, 11, [(topic, [partition()])], session=(full.session_id, -1))
    assert (ended.session_id, len(rows(ended))) == (0, 1)
    gone = fetch(wire, 11, [], session=(full.session_id, 2))
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("version", [7, 9])
def test_special_timestamps_stand_for_offsets(wire: Wire, topic: str, version: int) -> None:
    produce(wire, topic)
    produce(wire, topic)

    def offset_at(timestamp: int, isolation: int = 0) -> tuple[int, ErrorCode]:
        asked = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
        fields = {"replica_id": -1, "isolation_level": isolation,
                  "topics": [{"name": topic, "partitions": [asked]}]}  # fmt: skip
        (row,) = wire.ask(ApiKey.LIST_OFFSETS, version, fields).topics[0].partitions
        return row.offset, ErrorCode(int(row.error_code))

    assert offset_at(-1) == offset_at(-1, isolation=1) == (2, ErrorCode.NONE)
    assert offset_at(-2) == (0, ErrorCode.NONE)
    assert offset_at(-3) == (0, ErrorCode.NONE)
    later = ErrorCode.NONE if version >= 9 else ErrorCode.UNSUPPORTED_VERSION
    assert offset_at(-4) == (0 if version >= 9 else -1, later)
    assert offset_at(-5) == (-1, later)
    assert offset_at(-6) == (-1, ErrorCode.UNSUPPORTED_VERSION)


def cold_fetches(broker: Brokerd) -> int:
    token = (broker.directory / "admin.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    lines = httpx.get(f"{broker.admin_url}/metrics", headers=headers).text.splitlines()
    (count,) = (line.split()[1] for line in lines if line.startswith("brokerd_cold_fetches_total "))
    return int(count)


def test_records_that_are_not_in_memory_come_all_the_same_and_in_order(
    brokers: BrokerdCluster, wire: Wire, topic: str
) -> None:
    broker = brokers.brokers[0]
    for _ in range(20):
        produce(wire, topic, bytes(1_000_000))
    before = cold_fetches(broker)
    fields = {"replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": 1 << 20,
              "isolation_level": 0, "session_id": 0, "session_epoch": -1,
              "topics": [{"topic": topic, "partitions": [partition(offset=1)]}]}  # fmt: skip
    with next((broker.logs / f"{topic}-0").glob("*.log")).open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if is_cached(file.fileno(), 0, 1):
            pytest.skip("the file system keeps everything in memory")
    wire.request(ApiKey.FETCH, 7, fields)
    wire.request(ApiKey.API_VERSIONS, 0, {})
    (row,) = rows(wire.answer(ApiKey.FETCH, 7))
    assert row.error_code == 0
    assert [header.base_offset for header, _ in iter_batches(memoryview(row.records))][:1] == [1]
    assert wire.answer(ApiKey.API_VERSIONS, 0).error_code == 0
    assert cold_fetches(broker) > before


def fetch_bytes(
    wire: Wire, version: int, name: str | UUID, offset: int, isolation: int = 0, **changes: Any
) -> bytes:
    """The answer to a fetch from one partition, without its correlation id."""
    key = "topic_id" if version >= 13 else "topic"
    rows = [partition(offset, changes.pop("index", 0))]
    fields: dict[str, Any] = {
        "max_wait": 0, "min_bytes": 1, "max_bytes": 1 << 20, "isolation_level": isolation,
        "topics": [{key: name, "partitions": rows}], **changes,
    }  # fmt: skip
    if version < 15:
        fields["replica_id"] = -1
    if version >= 7:
        fields |= {"session_id": 0, "session_epoch": -1}
    wire.request(ApiKey.FETCH, version, fields)
    return wire.frame()[4:]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_like_the_last_one_is_answered_like_one_on_a_new_connection(
    brokers, led_by, wire: Wire, version: int
) -> None:
    topic = led_by(f"alike-{next(_numbers)}", 1)
    for number in range(5):
        produce(wire, topic, b"v%d" % number)
    name = topic_id(wire, topic) if version >= 13 else topic
    asked: list[tuple[int, dict[str, Any]]] = [
        (0, {}), (1, {}), (4, {}), (5, {}), (2, {}), (99, {}), (-1, {}), (3, {}), (0, {}),
        (0, {"index": 1}), (1, {}), (1, {"max_bytes": 1}), (1, {"isolation": 1}),
        *[(number % 5, {"isolation": 1}) for number in range(30)],
        (3, {"min_bytes": 1 << 20}),
        *[(number % 5, {}) for number in range(30)],
    ]  # fmt: skip
    for offset, changes in asked:
        again = fetch_bytes(wire, version, name, offset, **changes)
        with Wire(brokers.brokers[0].port) as other:
            assert again == fetch_bytes(other, version, name, offset, **changes), (offset, changes)


def test_a_request_like_the_last_one_sees_what_was_written_and_deleted_since(
    brokers, admin, wire: Wire, topic: str
) -> None:
    produce(wire, topic, b"first")
    for number in range(3):
        produce(wire, topic, b"again-%d" % number)
        assert b"again-%d" % number in fetch_bytes(wire, 11, topic, number + 1)
    fields = {"topics": [{"name": topic, "partitions": [{"partition_index": 0, "offset": 2}]}]}
    wire.ask(ApiKey.DELETE_RECORDS, 2, {**fields, "timeout": 5000})
    assert b"again" not in fetch_bytes(wire, 11, topic, 1)
    assert b"again-1" in fetch_bytes(wire, 11, topic, 2)
    admin.delete_topics([topic])[topic].result(20)
    deadline = time.monotonic() + 20
    with Wire(brokers.brokers[0].port) as other:
        while b"again" in fetch_bytes(other, 11, topic, 2):
            assert time.monotonic() < deadline
    assert b"again" not in fetch_bytes(wire, 11, topic, 2)
