"""What clients are told while a disk is slow to sync, cannot sync, or cannot read what it sends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.faulty_disk import FaultyDisk
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

NOT_YET = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    return FaultyDisk(tmp_path / "faults", monkeypatch)


@pytest.fixture
def broker(zookeeper: ZooKeeper, tmp_path: Path, disk: FaultyDisk) -> Iterator[Brokerd]:
    dirs = ",".join(str(tmp_path / name) for name in "abc")
    connect = zookeeper.connect("/faulty-disk")
    broker = Brokerd(tmp_path / "broker", 1, connect, {"log.dirs": dirs})
    try:
        broker.start()
        yield broker
    finally:
        disk.mend()
        broker.kill()


def make(wire: Wire, topic: str, **settings: str) -> None:
    """A topic with three partitions, one in each log directory."""
    configs = [{"name": name.replace("_", "."), "value": it} for name, it in settings.items()]
    wanted = {"name": topic, "num_partitions": 3, "replication_factor": 1, "configs": configs}
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [wanted], "timeout": 10_000})
    assert [int(each.error_code) for each in answer.topics] == [0]


def in_directory(path: Path, topic: str) -> int:
    """The partition of a topic that lies in a log directory."""
    (found,) = path.glob(f"{topic}-[0-9]")
    return int(found.name.rpartition("-")[2])


def records(topic: str, index: int, *, size: int = 1, timeout_ms: int = 1) -> dict[str, Any]:
    """A Produce with acks=1."""
    batch = bytes(encode_batch([Record(0, 0, b"k", bytes(size))]))
    partitions = [{"index": index, "records": batch}]
    topics = [{"name": topic, "partition_data": partitions}]
    return {"acks": 1, "timeout": timeout_ms, "topic_data": topics}


def produced(answer: Any) -> ErrorCode:
    return ErrorCode(int(answer.responses[0].partition_responses[0].error_code))


def send(wire: Wire, topic: str, index: int, *, size: int = 1) -> None:
    """Have a record acknowledged."""
    fields = records(topic, index, size=size)
    told = wait_until(lambda: [
        code for code in [produced(wire.ask(ApiKey.PRODUCE, 9, fields))] if code not in NOT_YET
    ])  # fmt: skip
    assert told == [ErrorCode.NONE]


def fetch(topic: str, index: int) -> dict[str, Any]:
    asked = {"partition": index, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    topics = [{"topic": topic, "partitions": [asked]}]
    return {"replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": 1 << 20, "topics": topics}


def fetched(wire: Wire, topic: str, index: int) -> ErrorCode:
    answer = wire.ask(ApiKey.FETCH, 4, fetch(topic, index))
    return ErrorCode(int(answer.responses[0].partitions[0].error_code))


def test_an_answer_waits_for_its_sync_and_what_the_disk_fails_to_do_takes_its_directory_offline(
    broker: Brokerd, disk: FaultyDisk, tmp_path: Path
) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    with Wire(broker.port) as wire, Wire(broker.port) as other:
        make(wire, "synced", flush_messages="1")
        make(wire, "plain")
        on_a, on_b = in_directory(a, "synced"), in_directory(b, "plain")
        send(wire, "synced", on_a)

        disk.stall(a)
        for _ in range(2):
            wire.request(ApiKey.PRODUCE, 9, records("synced", on_a))
        assert wire.hears_nothing(), "acks=1 is answered when the record is synced"
        send(other, "plain", on_b, size=200_000)
        disk.mend()
        for _ in range(2):
            assert produced(wire.answer(ApiKey.PRODUCE, 9)) is ErrorCode.NONE

        disk.fail_syncs(a)
        assert produced(wire.ask(ApiKey.PRODUCE, 9, records("synced", on_a))) is (
            ErrorCode.KAFKA_STORAGE_ERROR
        )
        assert broker.said().count(f"the log directory {a} is offline") == 1

        assert fetched(other, "plain", on_b) is ErrorCode.NONE
        disk.fail_sends(b)
        other.request(ApiKey.FETCH, 4, fetch("plain", on_b))
        with pytest.raises(EOFError):
            other.frame()
        assert f"{b}/plain-{on_b}/{0:020}.log: Input/output error" in broker.said()
        assert fetched(wire, "plain", on_b) is ErrorCode.KAFKA_STORAGE_ERROR
        assert broker.said().count(f"the log directory {b} is offline") == 1
        send(wire, "plain", in_directory(c, "plain"))
    assert "Traceback" not in broker.said()
