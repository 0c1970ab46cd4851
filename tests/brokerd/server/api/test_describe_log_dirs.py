"""DescribeLogDirs and AlterReplicaLogDirs over the wire."""

from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import BrokerdCluster


def test_log_directories_are_told_with_space_and_sizes(
    admin: AdminClient, ask, brokers: BrokerdCluster
) -> None:
    for future in admin.create_topics([NewTopic("sized", 4, 1)]).values():
        future.result(timeout=10)
    shown = set()
    for index, broker in enumerate(brokers.brokers):
        response = ask(ApiKey.DESCRIBE_LOG_DIRS, 4, {"topics": None}, broker=index)
        (directory,) = response.results
        assert Path(directory.log_dir) == broker.logs
        assert 0 < directory.usable_bytes <= directory.total_bytes
        (sized,) = [topic for topic in directory.topics if topic.name == "sized"]
        shown |= {partition.partition_index for partition in sized.partitions}
    assert shown == {0, 1, 2, 3}
    asked = {"topics": [{"topic": "none", "partitions": [0]}]}
    (directory,) = ask(ApiKey.DESCRIBE_LOG_DIRS, 1, asked).results
    assert directory.topics == ()


def test_a_replica_is_where_it_is_or_cannot_be_moved(ask, led_by, brokers: BrokerdCluster) -> None:
    topic = led_by("moved", 1)
    here = str(brokers.brokers[0].logs)

    def move(path: str, name: str) -> ErrorCode:
        dirs = [{"path": path, "topics": [{"name": name, "partitions": [0]}]}]
        (result,) = ask(ApiKey.ALTER_REPLICA_LOG_DIRS, 2, {"dirs": dirs}).results
        return ErrorCode(int(result.partitions[0].error_code))

    assert move(here, topic) is ErrorCode.NONE
    assert move(here, "nowhere") is ErrorCode.REPLICA_NOT_AVAILABLE
    assert move("/no/such/directory", topic) is ErrorCode.LOG_DIR_NOT_FOUND
