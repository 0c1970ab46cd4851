"""A write of the log that the disk cuts short: nothing of it is left, and everybody is told."""

import resource
from pathlib import Path

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

NOW_MS = 1_700_000_000_000
TOPIC = {"name": "t", "num_partitions": 1, "replication_factor": 1}
TOGETHER = 10


def frame(size: int) -> bytes:
    """A Produce 9 of one record."""
    batch = bytes(encode_batch([Record(0, NOW_MS, b"k", bytes(size))]))
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": batch}]}]
    fields = {"acks": 1, "timeout": 5000, "topic_data": topics}
    return encode_request(ApiKey.PRODUCE, 9, fields, 1, "wire")


def answered(wire: Wire) -> tuple[ErrorCode, int]:
    told = wire.answer(ApiKey.PRODUCE, 9).responses[0].partition_responses[0]
    return ErrorCode(int(told.error_code)), told.base_offset


def log_end(broker: Brokerd) -> int:
    asked = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    fields = {"replica_id": -1, "isolation_level": 0,
              "topics": [{"name": "t", "partitions": [asked]}]}  # fmt: skip
    with Wire(broker.port) as wire:
        while True:
            told = wire.ask(ApiKey.LIST_OFFSETS, 5, fields).topics[0].partitions[0]
            if not told.error_code:
                return int(told.offset)


def test_every_request_of_a_receive_is_told_that_nothing_was_written(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    directories = [tmp_path / "a", tmp_path / "b"]
    settings = {"log.dirs": ",".join(map(str, directories)), "log.retention.ms": "-1"}
    broker = Brokerd(tmp_path / "broker", 1, zookeeper.connect("/failed-write"), settings)
    broker.start()
    try:
        with Wire(broker.port) as wire:
            wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": [TOPIC], "timeout": 10_000})
            acknowledged = 0
            while acknowledged < 30:
                wire.send(frame(10_000))
                error, offset = answered(wire)
                if error is ErrorCode.NONE:
                    assert offset == acknowledged
                    acknowledged += 1
            (path,) = (path for each in directories for path in each.glob("t-0/*.log"))
            size = path.stat().st_size
            assert broker.process is not None
            no_limit = resource.RLIM_INFINITY
            limits = (size + 1000, no_limit)  # for files, as if the disk were full
            resource.prlimit(broker.process.pid, resource.RLIMIT_FSIZE, limits)
            wire.send(frame(500) * TOGETHER)
            answers = [answered(wire) for _ in range(TOGETHER)]
        assert answers == [(ErrorCode.KAFKA_STORAGE_ERROR, -1)] * TOGETHER
        assert path.stat().st_size == size
        resource.prlimit(broker.process.pid, resource.RLIMIT_FSIZE, (no_limit, no_limit))
        assert "Traceback" not in broker.said()
        broker.kill()
        broker.start()
        assert log_end(broker) == acknowledged
    finally:
        broker.kill()
