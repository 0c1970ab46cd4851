"""One of several log directories fails: what lies in it goes offline, the others serve on."""

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.crash.load import read_back
from tests.support.brokerd import Brokerd
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

DISK_BYTES = 1 << 20
STORAGE_ERROR = int(ErrorCode.KAFKA_STORAGE_ERROR)


@contextlib.contextmanager
def small_disk(path: Path) -> Iterator[None]:
    """A disk of DISK_BYTES; skips where this process may not mount one."""
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", path], capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def remount(path: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", path], check=True)


@pytest.fixture
def broker(
    zookeeper: ZooKeeper, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Brokerd]:
    connect = zookeeper.connect(f"/{request.node.name}")
    settings = {
        "log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}",
        "log.flush.offset.checkpoint.interval.ms": "200",
    }
    broker = Brokerd(tmp_path / "broker", 1, connect, settings)
    try:
        yield broker
    finally:
        broker.kill()


def create(broker: Brokerd, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(30)


def placed(directory: Path, topic: str) -> set[int]:
    """The partitions of a topic that lie in a log directory."""
    return {int(path.name.rpartition("-")[2]) for path in directory.glob(f"{topic}-[0-9]")}


class Sent:
    """Numbers that were acknowledged, by their place."""

    def __init__(self, broker: Brokerd, topic: str) -> None:
        self.acked: dict[tuple[int, int], int] = {}
        self.refused = 0
        self._topic = topic
        self._next = 0
        self._producer = Producer(
            {"bootstrap.servers": broker.address, "retries": 0, "linger.ms": 0,
             "message.timeout.ms": 3_000, "log_level": 0}
        )  # fmt: skip

    def send(self, partition: int, *, padding: int = 0) -> None:
        """One number, with spaces before it up to `padding` bytes."""
        number, self._next = self._next, self._next + 1

        def delivered(error: Any, message: Any) -> None:
            if error is None:
                self.acked[message.partition(), message.offset()] = number
            else:
                self.refused += 1

        text = str(number).rjust(padding)
        self._producer.produce(self._topic, text, partition=partition, on_delivery=delivered)
        assert self._producer.flush(20) == 0


def leaders(broker: Brokerd, topic: str) -> dict[int, int]:
    metadata = AdminClient({"bootstrap.servers": broker.address}).list_topics(topic, timeout=10)
    return {index: each.leader for index, each in metadata.topics[topic].partitions.items()}


def assert_only_one_directory_is_offline(broker: Brokerd, wire: Wire, lost: Path) -> None:
    described = wire.ask(ApiKey.DESCRIBE_LOG_DIRS, 4, {"topics": None})
    errors = {result.log_dir: int(result.error_code) for result in described.results}
    other = lost.parent / ("a" if lost.name == "b" else "b")
    assert errors == {str(lost): STORAGE_ERROR, str(other): 0}
    assert "Traceback" not in broker.said()
    assert broker.said().count(f"the log directory {lost} is offline") == 1


def error_of(wire: Wire, topic: str, partition: int) -> int:
    asked = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": -1}
    fields = {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [{"name": topic, "partitions": [asked]}],
    }
    answer = wire.ask(ApiKey.LIST_OFFSETS, 5, fields)
    return int(answer.topics[0].partitions[0].error_code)


def without_leader(broker: Brokerd, topic: str) -> set[int]:
    return {index for index, leader in leaders(broker, topic).items() if leader == -1}


def test_a_full_disk_takes_its_partitions_offline_until_it_can_be_written_again(
    broker: Brokerd, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "b"):
        broker.start()
        create(broker, "numbers", 4)
        on_b = placed(tmp_path / "b", "numbers")
        assert len(on_b) == 2
        sent = Sent(broker, "numbers")
        full, other = sorted(on_b)
        sent.send(other)
        while not sent.refused:
            sent.send(full, padding=50_000)
        assert len(sent.acked) > 5
        wait_until(lambda: without_leader(broker, "numbers") == on_b, "b's partitions are offline")
        with Wire(broker.port) as wire:
            assert_only_one_directory_is_offline(broker, wire, tmp_path / "b")
            assert {error_of(wire, "numbers", index) for index in on_b} == {STORAGE_ERROR}
        assert re.search("No space left on device|the disk may be full", broker.said())
        for index in set(range(4)) - on_b:
            sent.send(index)
        create(broker, "later", 2)
        assert placed(tmp_path / "a", "later") == {0, 1}
        broker.stop()
        remount(tmp_path / "b", "ro")
        broker.start()
        wait_until(lambda: without_leader(broker, "numbers") == on_b, "they still are, read-only")
        assert "Read-only file system" in broker.said()
        assert "Traceback" not in broker.said()
        broker.stop()
        remount(tmp_path / "b", f"rw,size={DISK_BYTES * 8}")
        broker.start()
        wait_until(lambda: without_leader(broker, "numbers") == set(), "all is online again")
        for index in range(4):
            sent.send(index)
        found = read_back(broker.address, "numbers")
        assert {place: found.get(place) for place in sent.acked} == sent.acked
        broker.kill()


def test_a_directory_that_cannot_be_used_at_the_start_and_all_of_them_later(
    broker: Brokerd, tmp_path: Path
) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    broker.start()
    create(broker, "kept", 4)
    create(broker, "deleted", 2)
    sent = Sent(broker, "kept")
    for index in range(4):
        sent.send(index)
    on_b = placed(b, "kept")
    broker.stop()
    b.rename(tmp_path / "moved")
    b.write_text("this is no directory")

    broker.start()
    wait_until(lambda: without_leader(broker, "kept") == on_b, "b's partitions are offline")
    with Wire(broker.port) as wire:
        assert_only_one_directory_is_offline(broker, wire, b)
    assert placed(a, "kept") == set(range(4)) - on_b, "no empty log takes the place of a lost one"
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.delete_topics(["deleted"], operation_timeout=1)["deleted"].exception(20)
    assert placed(a, "deleted") == set(), "what can be deleted is"
    with pytest.raises(KafkaException, match="marked for deletion"):
        admin.create_topics([NewTopic("deleted", 1, 1)])["deleted"].result(20)
    broker.stop()
    b.unlink()
    (tmp_path / "moved").rename(b)

    broker.start()
    wait_until(lambda: without_leader(broker, "kept") == set(), "all is online again")
    wait_until(lambda: placed(b, "deleted") == set(), "the deletion is completed")
    found = read_back(broker.address, "kept")
    assert {place: found.get(place) for place in sent.acked} == sent.acked

    a.rename(tmp_path / "gone-a")
    b.rename(tmp_path / "gone-b")
    assert broker.process is not None
    assert broker.process.wait(20) == 1
    assert "brokerd: no directory of log.dirs can be used" in broker.said()
    assert "Traceback" not in broker.said()
