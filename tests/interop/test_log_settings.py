"""Settings of logs that show in the files of a running broker.

Asked the same, Apache Kafka 3.9.1 leaves the same segments, recovery points and producers, but that
it makes a preallocated file as long as a segment may be, which takes no space there either.
"""

import os
import time
from collections.abc import Iterator
from typing import Any

import pytest

from brokerd.errors import ErrorCode
from brokerd.log.checkpoint_file import RECOVERY_POINT, read_offsets
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

NOW_MS = int(time.time() * 1000)
SETTINGS = {
    "log.cleaner.enable": "false",
    "log.cleaner.backoff.ms": "100",
    "log.flush.interval.ms": str(10**12),
    "log.flush.offset.checkpoint.interval.ms": "100",
    "log.flush.scheduler.interval.ms": "100",
    "log.retention.check.interval.ms": "100",
    "producer.id.expiration.ms": "60000",
    "producer.id.expiration.check.interval.ms": "100",
}
SEGMENT_BYTES = 1 << 20
NOT_YET = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory = tmp_path_factory.mktemp("log-settings")
    connect = zookeeper.connect("/log-settings")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


@pytest.fixture
def wire(broker: Brokerd) -> Iterator[Wire]:
    with Wire(broker.port) as wire:
        yield wire


def make(wire: Wire, topic: str, partitions: int = 1, **settings: object) -> None:
    """A topic with these settings, `_` for `.` in their names."""
    configs = [{"name": name.replace("_", "."), "value": str(it)} for name, it in settings.items()]
    wanted = {
        "name": topic, "num_partitions": partitions, "replication_factor": 1, "configs": configs,
    }  # fmt: skip
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [wanted], "timeout": 10_000})
    assert [int(each.error_code) for each in answer.topics] == [0]


def send(
    wire: Wire,
    topic: str,
    at_ms: int,
    *,
    index: int = 0,
    count: int = 1,
    acks: int = 1,
    **batch: int,
) -> tuple[ErrorCode, int]:
    """One batch of `count` records of that time; (error, offset)."""
    records = encode_batch([Record(0, at_ms, b"k", b"v")] * count, **batch)
    data = [{"index": index, "records": bytes(records)}]
    fields = {
        "acks": acks, "timeout": 5000, "topic_data": [{"name": topic, "partition_data": data}],
    }  # fmt: skip

    def answer() -> Any:
        told = wire.ask(ApiKey.PRODUCE, 9, fields).responses[0].partition_responses[0]
        return told if ErrorCode(int(told.error_code)) not in NOT_YET else None

    told = wait_until(answer, f"{topic}-{index} takes records")
    return ErrorCode(int(told.error_code)), told.base_offset


def segments(broker: Brokerd, topic: str, index: int = 0) -> list[int]:
    """The base offsets of the segments of a partition."""
    return sorted(int(path.stem) for path in (broker.logs / f"{topic}-{index}").glob("*.log"))


def space(broker: Brokerd, topic: str, base_offset: int) -> int:
    """The bytes that a segment takes on disk."""
    return 512 * os.stat(broker.logs / f"{topic}-0" / f"{base_offset:020}.log").st_blocks


def recovery_point(broker: Brokerd, topic: str) -> int | None:
    return read_offsets(f"{broker.logs}/{RECOVERY_POINT}").get((topic, 0))


def active_producers(wire: Wire, topic: str) -> set[int]:
    asked = {"topics": [{"name": topic, "partition_indexes": [0]}]}
    answer = wire.ask(ApiKey.DESCRIBE_PRODUCERS, 0, asked)
    return {each.producer_id for each in answer.topics[0].partitions[0].active_producers}


def test_a_segment_is_closed_when_the_times_of_its_records_pass_segment_ms(
    broker: Brokerd, wire: Wire
) -> None:
    make(wire, "times", segment_ms=1_000)
    for after_ms in (0, 1_000, 1_001, -5_000, 2_001, 2_002):
        assert send(wire, "times", NOW_MS + after_ms)[0] == 0
    assert segments(broker, "times") == [0, 2, 5]
    make(wire, "timeless", 2, segment_ms=100)
    send(wire, "timeless", NOW_MS, index=1)

    def rolled() -> bool:
        send(wire, "timeless", -1)
        send(wire, "timeless", -1, index=1)
        return len(segments(broker, "timeless")) > 1

    wait_until(rolled, "a segment that begins without a time is a tenth of a second old")
    assert segments(broker, "timeless", 1) == [0], "one with a time goes by times alone"


def test_with_a_jitter_partitions_do_not_all_begin_a_segment_at_once(
    broker: Brokerd, wire: Wire
) -> None:
    make(wire, "jitter", 12, segment_ms=1_000_000, segment_jitter_ms=1_000_000)
    for index in range(12):
        for step in range(11):
            send(wire, "jitter", NOW_MS + step * 100_000, index=index)
        send(wire, "jitter", NOW_MS + 1_000_001, index=index)
    second = [segments(broker, "jitter", index)[1] for index in range(12)]
    assert len(set(second)) > 2
    assert max(second) <= 11


def test_a_preallocated_segment_takes_no_space_on_disk(broker: Brokerd, wire: Wire) -> None:
    make(wire, "space", preallocate="true", segment_bytes=SEGMENT_BYTES)
    send(wire, "space", NOW_MS)
    assert space(broker, "space", 0) < SEGMENT_BYTES // 2


def test_a_log_is_synced_after_flush_messages_and_after_flush_ms(
    broker: Brokerd, wire: Wire
) -> None:
    wanted = {"counted": (6, 6), "few": (4, 0), "timed": (3, 3), "neither": (3, 0)}
    make(wire, "counted", flush_messages=5)
    make(wire, "few", flush_messages=5)
    make(wire, "timed", flush_ms=200)
    make(wire, "neither")
    for topic, (count, _) in wanted.items():
        send(wire, topic, NOW_MS, count=count)
    synced = {topic: offset for topic, (_, offset) in wanted.items()}
    wait_until(lambda: synced == {topic: recovery_point(broker, topic) for topic in wanted})


def test_an_idempotent_producer_that_writes_nothing_any_more_is_forgotten(wire: Wire) -> None:
    make(wire, "producers", retention_ms=-1)
    hour_ms = 3_600_000
    for producer_id, at_ms in ((7, NOW_MS - hour_ms), (8, NOW_MS + hour_ms)):
        for sequence in (0, 1):
            send(
                wire, "producers", at_ms, producer_id=producer_id, producer_epoch=0,
                base_sequence=sequence,
            )  # fmt: skip
    wait_until(lambda: active_producers(wire, "producers") == {8}, "that of an hour ago is gone")
    again = [
        send(
            wire, "producers", NOW_MS + hour_ms, producer_id=producer_id, producer_epoch=0,
            base_sequence=sequence,
        )
        for producer_id, sequence in ((7, 9), (8, 9), (8, 1), (8, 2))
    ]  # fmt: skip
    out_of_order = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert again == [(ErrorCode.NONE, 4), out_of_order, (ErrorCode.NONE, 3), (ErrorCode.NONE, 5)]


def test_without_the_cleaner_a_compacted_log_is_left_alone_whatever_its_age(
    broker: Brokerd, wire: Wire
) -> None:
    old_ms = NOW_MS - 1_000_000
    kept = {"compacted": "compact", "both": "compact,delete"}
    for topic, policy in {**kept, "aged": "delete"}.items():
        make(
            wire, topic, cleanup_policy=policy, segment_ms=1_000, retention_ms=1_000,
            min_cleanable_dirty_ratio=0, file_delete_delay_ms=0,
        )  # fmt: skip
        for after_ms in (0, 2_000, 4_000):
            send(wire, topic, old_ms + after_ms)
    wait_until(lambda: segments(broker, "aged") == [3], "what is deleted by its age goes")
    assert {topic: segments(broker, topic) for topic in kept} == {each: [0, 1, 2] for each in kept}
