"""kill -9 of a broker under load: what was acknowledged is there, where and as it was said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.crash.load import Load, missing, read_back, repeated
from tests.support.brokerd import BrokerdCluster
from tests.support.zookeeper import ZooKeeper


@pytest.fixture(scope="module")
def cluster(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    directory: Path = tmp_path_factory.mktemp("killed")
    settings = {"log.segment.bytes": "65536"}
    connect = zookeeper.connect("/crash-killed")
    with BrokerdCluster.started(directory, connect, brokers=2, settings=settings) as cluster:
        yield cluster


def create(bootstrap: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(topic, 4, 1)])[topic].result(30)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"acks": "all"}, id="acks-all"),
        pytest.param({"acks": "1"}, id="acks-1"),
        pytest.param({"enable.idempotence": True}, id="idempotent"),
    ],
)
def test_every_acknowledged_record_is_read_back(
    cluster: BrokerdCluster, settings: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    bootstrap, topic = cluster.bootstrap_servers, request.node.callspec.id
    create(bootstrap, topic)
    with Load(bootstrap, topic, **settings) as load:
        for broker in cluster.brokers:
            load.wait_for(2_000)
            broker.kill()
            broker.start()
        load.wait_for(2_000)
        load.finish()
    found = read_back(bootstrap, topic)
    assert missing(load, found) == {}
    assert load.acked_twice == []
    assert set(found.values()) == set(range(load.sent))
    if "enable.idempotence" in settings:
        assert repeated(found) == []


def test_records_stay_over_a_kill_of_all_brokers_at_once(cluster: BrokerdCluster) -> None:
    bootstrap, topic = cluster.bootstrap_servers, "all-at-once"
    create(bootstrap, topic)
    with Load(bootstrap, topic, **{"enable.idempotence": True}) as load:
        load.wait_for(2_000)
        cluster.kill()
        cluster.start()
        load.wait_for(2_000)
        load.finish()
    found = read_back(bootstrap, topic)
    assert missing(load, found) == {}
    assert repeated(found) == []
