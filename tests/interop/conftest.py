"""One real broker on a real ZooKeeper for the interop tests; each test takes topics of its own."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.kafka import apache_kafka
from tests.support.zookeeper import ZooKeeper

SETTINGS = {
    "num.partitions": "2",
    "socket.request.max.bytes": "2000000",
    "message.max.bytes": "1000000",
}


@pytest.fixture(scope="session")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    """A broker with auto-created topics of two partitions."""
    directory = tmp_path_factory.mktemp("interop")
    connect = zookeeper.connect("/interop")
    with BrokerdCluster.started(directory, connect, settings=SETTINGS) as cluster:
        yield cluster.brokers[0]


@pytest.fixture(scope="session")
def _numbers() -> Iterator[int]:
    return count()


@pytest.fixture
def new_name(_numbers: Iterator[int]) -> Callable[[str], str]:
    """Names of topics and groups that no other test uses."""
    return lambda kind: f"{kind}-{next(_numbers)}"


@pytest.fixture(scope="session")
def kafka_port(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """An Apache Kafka to ask the same as `brokerd_port`."""
    directory = tmp_path_factory.mktemp("answers-of-kafka")
    with apache_kafka(directory, zookeeper.connect("/answers-of-kafka")) as kafka:
        yield kafka.port


@pytest.fixture(scope="session")
def brokerd_port(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A brokerd with the settings of that Kafka, which opens every batch as that Kafka does."""
    directory = tmp_path_factory.mktemp("answers-of-brokerd")
    connect = zookeeper.connect("/answers-of-brokerd")
    settings = {"brokerd.validate.records": "all"}
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        yield cluster.brokers[0].port
