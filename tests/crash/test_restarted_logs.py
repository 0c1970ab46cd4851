"""What a broker finds in its logs when it starts: ends that were torn after a clean stop, and a log
of a topic that was made anew."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from brokerd.log.checkpoint_file import RECOVERY_POINT, read_offsets
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.records import Record, encode_batch
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.waiting import wait_until
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

LATEST, HIGH_WATERMARK = -1, -1
TORN = ("latest", "epochs", "deleted", "fetched")
SETTINGS = {
    "log.flush.offset.checkpoint.interval.ms": "3600000",
    "offsets.topic.num.partitions": "1",
}


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory = tmp_path_factory.mktemp("restarted")
    connect = zookeeper.connect("/crash-restarted")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


def make(wire: Wire, *topics: str, **settings: object) -> None:
    """Topics with these settings, `_` for `.` in their names."""
    configs = [{"name": name.replace("_", "."), "value": str(it)} for name, it in settings.items()]
    wanted = [
        {"name": topic, "num_partitions": 1, "replication_factor": 1, "configs": configs}
        for topic in topics
    ]
    answer = wire.ask(ApiKey.CREATE_TOPICS, 5, {"topics": wanted, "timeout": 10_000})
    assert {int(each.error_code) for each in answer.topics} == {0}


def send(wire: Wire, topic: str, batches: int) -> None:
    """So many batches of one record, each of 100 bytes and more and an append of its own."""
    records = bytes(encode_batch([Record(0, 1, b"k", bytes(100))]))
    data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    fields = {"acks": 1, "timeout": 5000, "topic_data": data}

    def is_taken() -> bool:
        answer = wire.ask(ApiKey.PRODUCE, 9, fields)
        return int(answer.responses[0].partition_responses[0].error_code) == 0

    for _ in range(batches):
        wait_until(is_taken, f"{topic} takes records")


def ask_of(wire: Wire, key: ApiKey, version: int, **fields: Any) -> Any:
    """The answer about partition 0 of the one topic that is asked about."""
    answer = wire.ask(key, version, fields)
    (topic,) = answer.topics if hasattr(answer, "topics") else answer.responses
    (partition,) = topic.partitions
    assert int(partition.error_code) == 0
    return partition


def latest(wire: Wire, topic: str) -> int:
    asked = [{"name": topic, "partitions": [{"partition_index": 0, "timestamp": LATEST}]}]
    offset: int = ask_of(wire, ApiKey.LIST_OFFSETS, 5, replica_id=-1, topics=asked).offset
    return offset


def end_of_epoch(wire: Wire, topic: str) -> int:
    """Where the leader's present epoch ends."""
    told = wire.ask(ApiKey.METADATA, 8, {"topics": [{"name": topic}]}).topics[0].partitions[0]
    partition = {"partition": 0, "leader_epoch": told.leader_epoch}
    asked = [{"topic": topic, "partitions": [partition]}]
    answer = ask_of(wire, ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, replica_id=-1, topics=asked)
    end_offset: int = answer.end_offset
    return end_offset


def deleted_to(wire: Wire, topic: str) -> int:
    """Deletes all that consumers may see; where the log starts then."""
    asked = [{"name": topic, "partitions": [{"partition_index": 0, "offset": HIGH_WATERMARK}]}]
    answer = ask_of(wire, ApiKey.DELETE_RECORDS, 1, topics=asked, timeout=5000)
    low_watermark: int = answer.low_watermark
    return low_watermark


def seen_by_fetch(wire: Wire, topic: str) -> int:
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}
    asked = [{"topic": topic, "partitions": [partition]}]
    fields = {
        "replica_id": -1, "max_wait": 0, "min_bytes": 1, "max_bytes": 100, "topics": asked,
        "session_id": 0, "session_epoch": -1,
    }  # fmt: skip
    (told,) = wire.ask(ApiKey.FETCH, 9, fields).responses[0].partitions
    assert told.error_code == 0
    high_watermark: int = told.high_watermark
    return high_watermark


def recovery_points(broker: Brokerd) -> dict[tuple[str, int], int]:
    return read_offsets(f"{broker.logs}/{RECOVERY_POINT}")


def tear(broker: Brokerd, topic: str) -> None:
    """Takes the last byte of a partition's log away."""
    (path,) = (broker.logs / f"{topic}-0").glob("*.log")
    os.truncate(path, path.stat().st_size - 1)


def commit(wire: Wire, offset: int) -> int:
    """Commits an offset of a group without members; the error that settles it."""
    partition = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    fields = {
        "group_id": "g", "generation_id_or_member_epoch": -1, "member_id": "",
        "topics": [{"name": "latest", "partitions": [partition]}],
    }  # fmt: skip

    def settled() -> list[int] | None:
        answer = wire.ask(ApiKey.OFFSET_COMMIT, 7, fields).topics[0].partitions[0]
        return [int(answer.error_code)] if answer.error_code not in (14, 15, 16) else None

    error: int = wait_until(settled, "the group is served")[0]
    return error


def committed(wire: Wire) -> int:
    asked = [{"name": "latest", "partition_indexes": [0]}]
    answer = wire.ask(ApiKey.OFFSET_FETCH, 6, {"group_id": "g", "topics": asked})
    offset: int = answer.topics[0].partitions[0].committed_offset
    return offset


def test_a_log_torn_after_a_clean_stop_never_tells_its_old_end(broker: Brokerd) -> None:
    with Wire(broker.port) as wire:
        make(wire, *TORN)
        for topic in TORN:
            send(wire, topic, 3)
        wire.ask(ApiKey.FIND_COORDINATOR, 1, {"key": "g", "key_type": 0})
        assert [commit(wire, offset) for offset in (1, 2)] == [0, 0]
    broker.stop()
    assert {recovery_points(broker)[topic, 0] for topic in TORN} == {3}
    for topic in (*TORN, "__consumer_offsets"):
        tear(broker, topic)
    broker.start()
    with Wire(broker.port) as wire:
        told = {
            "latest": latest(wire, "latest"),
            "epochs": end_of_epoch(wire, "epochs"),
            "deleted": deleted_to(wire, "deleted"),
            "fetched": seen_by_fetch(wire, "fetched"),
        }
        assert told == dict.fromkeys(told, 2)
        assert commit(wire, 3) == 0
        assert committed(wire) == 3

        # Nothing but a cut has recovery points written down within the hour.
        cut = {(topic, 0): 0 for topic in told}
        wait_until(lambda: cut.items() <= recovery_points(broker).items(), "the cuts are known")
        send(wire, "deleted", 1)
        assert latest(wire, "deleted") == 3


def test_a_topic_made_anew_starts_where_it_began_and_not_where_its_namesake_did(
    broker: Brokerd,
) -> None:
    with Wire(broker.port) as wire:
        make(wire, "anew")
        send(wire, "anew", 3)
        assert deleted_to(wire, "anew") == 3
        fields = {"topic_names": ["anew"], "timeout": 10_000}
        (gone,) = wire.ask(ApiKey.DELETE_TOPICS, 5, fields).responses
        assert gone.error_code == 0
        make(wire, "anew")
        send(wire, "anew", 2)
    broker.kill()
    broker.start()
    with Wire(broker.port) as wire:
        assert latest(wire, "anew") == 2
        assert seen_by_fetch(wire, "anew") == 2
