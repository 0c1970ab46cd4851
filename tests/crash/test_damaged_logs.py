"""Logs that were damaged while their broker was stopped: who uses them waits until threads have
read them, and nobody else does."""

import json
import os
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import pytest

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.faulty_disk import FaultyDisk
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

BATCHES = 40
TIMES = range(1000, 1000 + BATCHES)
DAMAGED: Final = ("torn", "epochs", "times", "latest", "old", "shown", "described")
MAX_TIMESTAMP = -3
PRODUCE, LIST_OFFSETS, FETCH = (ApiKey.PRODUCE, 9), (ApiKey.LIST_OFFSETS, 7), (ApiKey.FETCH, 9)
PAGES = (
    "/v1/segments/index?topic=shown&partition=0&base_offset=0&kind=offset",
    "/v1/segments?topic=described&partition=0",
    "/v1/segments/batches?topic=sound&partition=0&base_offset=0&limit=2",
)
Request = tuple[tuple[int, int], dict[str, Any]]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    return FaultyDisk(tmp_path / "faults", monkeypatch)


@pytest.fixture
def broker(zookeeper: ZooKeeper, tmp_path: Path, disk: FaultyDisk) -> Iterator[Brokerd]:
    broker = Brokerd(tmp_path / "broker", 1, zookeeper.connect("/damaged-logs"), {})
    try:
        broker.start()
        yield broker
    finally:
        disk.mend()
        broker.kill()


def make(wire: Wire, *topics: str) -> None:
    """Topics of which a segment holds ten batches or so."""
    configs = [{"name": "segment.bytes", "value": "2000"},
               {"name": "index.interval.bytes", "value": "200"}]  # fmt: skip
    wanted = [
        {"name": topic, "num_partitions": 1, "replication_factor": 1, "configs": configs}
        for topic in topics
    ]
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": wanted, "timeout": 10_000})
    assert {int(each.error_code) for each in answer.topics} == {0}


def produce(topic: str, timestamp_ms: int = 0) -> Request:
    batch = bytes(encode_batch([Record(0, timestamp_ms, b"k", bytes(100))]))
    data = [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}]
    return PRODUCE, {"acks": 1, "timeout": 5000, "topic_data": data}


def by_time(topic: str, timestamp_ms: int) -> Request:
    partition = {"partition_index": 0, "timestamp": timestamp_ms}
    topics = [{"name": topic, "partitions": [partition]}]
    return LIST_OFFSETS, {"replica_id": -1, "isolation_level": 0, "topics": topics}


def fetch(topic: str, offset: int) -> Request:
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1_000_000}
    topics = [{"topic": topic, "partitions": [partition]}]
    return FETCH, {
        "replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": 1_000_000,
        "topics": topics, "session_id": 0, "session_epoch": -1,
    }  # fmt: skip


def ask(wire: Wire, request: Request) -> Any:
    (key, version), fields = request
    wire.request(key, version, fields)
    return answer(wire, request)


def answer(wire: Wire, request: Request) -> Any:
    """What is said of the one partition."""
    (key, version), _ = request
    told = wire.answer(key, version)
    if request[0] == PRODUCE:
        (partition,) = told.responses[0].partition_responses
    elif request[0] == FETCH:
        (partition,) = told.responses[0].partitions
    else:
        (partition,) = told.topics[0].partitions
    return partition


def fill(wire: Wire, topic: str) -> None:
    """Batches with rising timestamps, but for the first one of `latest`, which has the largest."""
    for number, timestamp_ms in enumerate(TIMES):
        if topic == "latest" and not number:
            timestamp_ms = TIMES[-1] + 1
        request = produce(topic, timestamp_ms)
        wait_until(lambda it=request: ask(wire, it).error_code == 0, f"{topic} takes records")


def first(directory: Path, suffix: str) -> Path:
    return min(directory.glob(f"*{suffix}"))


def damage(logs: Path) -> None:
    last = max((logs / "torn-0").glob("*.log"))
    os.truncate(last, last.stat().st_size - 1)
    (logs / "epochs-0" / "leader-epoch-checkpoint").write_text("no checkpoint")
    times = first(logs / "times-0", ".timeindex")
    os.truncate(times, times.stat().st_size - 5)
    for path in (
        first(logs / "old-0", ".index"),
        first(logs / "shown-0", ".index"),
        max((logs / "described-0").glob("*.timeindex")),
    ):
        with path.open("ab") as file:
            file.write(b"xxx")
    flip(logs)


def flip(logs: Path) -> None:
    """A bit in a record of the batch with the largest timestamp; a second time puts it right."""
    with first(logs / "latest-0", ".log").open("r+b") as file:
        file.seek(100)
        byte = file.read(1)[0]
        file.seek(100)
        file.write(bytes([byte ^ 1]))


def page(broker: Brokerd, path: str) -> socket.socket:
    """A page of the admin port is asked for."""
    token = (broker.directory / "admin.token").read_text().strip()
    client = socket.create_connection(("127.0.0.1", broker.admin_port), 10)
    head = f"GET {path} HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    client.sendall(head.encode())
    return client


def body(client: socket.socket) -> Any:
    """What it says."""
    data = b""
    while piece := client.recv(1 << 16):
        data += piece
    head, _, text = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), data
    return json.loads(text)


def test_who_uses_a_damaged_log_waits_for_threads_and_nobody_else_does(
    broker: Brokerd, disk: FaultyDisk
) -> None:
    with Wire(broker.port) as wire:
        make(wire, *DAMAGED, "sound")
        for topic in (*DAMAGED, "sound"):
            fill(wire, topic)
    broker.stop()
    damage(broker.logs)
    broker.start()
    disk.stall_reads(broker.logs)
    requests = [
        produce("torn"), by_time("torn", -1), produce("epochs"), by_time("epochs", -2),
        by_time("times", TIMES[5]), by_time("latest", MAX_TIMESTAMP), fetch("old", 5),
    ]  # fmt: skip
    with ExitStack() as stack:
        clients = [stack.enter_context(Wire(broker.port)) for _ in requests]
        for client, ((key, version), fields) in zip(clients, requests, strict=True):
            client.request(key, version, fields)
        pages = [stack.enter_context(closing(page(broker, path))) for path in PAGES]
        with Wire(broker.port) as wire:
            for number in range(20):
                assert ask(wire, produce("sound")).base_offset == BATCHES + number
                assert ask(wire, by_time("sound", TIMES[7])).offset == 7
        assert [client.hears_nothing(0.1) for client in clients] == [True] * len(clients)
        answered = select.poll()  # `select` takes no descriptors above 1,023
        for each in pages:
            answered.register(each, select.POLLIN)
        assert not answered.poll(100)

        clients[0].request(*PRODUCE, requests[0][1])  # behind the one that waits
        disk.mend()
        told = [answer(*each) for each in zip(clients, requests, strict=True)]
        again = answer(clients[0], requests[0])
        shown, segments, batches = [body(each) for each in pages]
    assert [each.error_code for each in told] == [0] * len(told)
    torn, end, epochs, start, times, latest, old = told
    assert (torn.base_offset, again.base_offset) == (BATCHES - 1, BATCHES)
    assert BATCHES - 1 <= end.offset <= BATCHES + 1
    assert (epochs.base_offset, start.offset, start.leader_epoch) == (BATCHES, 0, 0)
    assert (times.offset, latest.offset) == (5, BATCHES - 1)
    assert old.records.startswith((5).to_bytes(8, "big"))
    assert shown["total"] == len(shown["entries"]) > 2
    assert sum(each["active"] for each in segments["segments"]) == 1
    assert [each["base_offset"] for each in batches["batches"]] == [0, 1]
    checkpoint = broker.logs / "epochs-0" / "leader-epoch-checkpoint"
    wait_until(lambda: checkpoint.read_text().startswith("0\n"), "the epochs are written anew")
    flip(broker.logs)  # Kafka's tool is to read all that was written
