"""What tests of the server share: a group service, two real brokers, and a client that asks exactly
what it is given."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from brokerd.protocol.api_keys import ApiKey
from tests.brokerd.server.group_broker import GroupBroker
from tests.support.brokerd import BrokerdCluster
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

Ask = Callable[..., Any]
NO_DELAY = {"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1"}


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[GroupBroker]:
    """A group service that serves, with a topic `t` to commit offsets for."""
    one = await GroupBroker(tmp_path, **NO_DELAY).with_offsets_topic()
    one.create_topic("t", 2)
    yield one
    await one.stop()


@pytest.fixture(scope="session")
def brokers(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    settings = {"num.partitions": "3", "log.retention.hours": "2"}
    directory = tmp_path_factory.mktemp("server")
    connect = zookeeper.connect("/server-tests")
    with BrokerdCluster.started(directory, connect, brokers=2, settings=settings) as cluster:
        yield cluster


@pytest.fixture
def admin(brokers: BrokerdCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": brokers.bootstrap_servers})


@pytest.fixture
def ask(brokers: BrokerdCluster) -> Ask:
    """`ask(api_key, version, fields, broker=index)` → the response as kio's object."""

    def asking(api_key: ApiKey, version: int, fields: Mapping[str, Any], *, broker: int = 0) -> Any:
        with Wire(brokers.brokers[broker].port) as wire:
            return wire.ask(api_key, version, dict(fields))

    return asking


@pytest.fixture
def ask_controller(ask: Ask) -> Ask:
    """As `ask`, of the broker that is controller."""
    found = ask(ApiKey.METADATA, 8, {"topics": ()}).controller_id - 1

    def asking(api_key: ApiKey, version: int, fields: Mapping[str, Any]) -> Any:
        return ask(api_key, version, fields, broker=found)

    return asking


@pytest.fixture
def ask_other(ask: Ask) -> Ask:
    """As `ask`, of the broker that is not."""
    found = 2 - ask(ApiKey.METADATA, 8, {"topics": ()}).controller_id

    def asking(api_key: ApiKey, version: int, fields: Mapping[str, Any]) -> Any:
        return ask(api_key, version, fields, broker=found)

    return asking


@pytest.fixture
def led_by(ask_controller: Ask) -> Callable[..., str]:
    """`led_by(name, first, …)`: a topic of one partition with these replicas, its leader first."""

    def creating(name: str, *brokers: int) -> str:
        topic = {"name": name, "num_partitions": -1, "replication_factor": -1,
                 "assignments": [{"partition_index": 0, "broker_ids": brokers}]}  # fmt: skip
        made = ask_controller(ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 10_000})
        assert made.topics[0].error_code == 0
        return name

    return creating
