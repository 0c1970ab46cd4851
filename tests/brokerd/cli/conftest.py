"""One real broker for the tools; each test takes topics and groups of its own."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.brokerd_tools import brokerd
from tests.support.zookeeper import ZooKeeper

CHROOT = "/cli"
_NUMBERS = count()


@pytest.fixture(scope="session")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    """Topics are not created by being read or written, and groups wait for nobody."""
    directory: Path = tmp_path_factory.mktemp("cli")
    settings = {"auto.create.topics.enable": "false", "num.partitions": "3",
                "group.initial.rebalance.delay.ms": "0"}  # fmt: skip
    connect = zookeeper.connect(CHROOT)
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        yield cluster.brokers[0]


@pytest.fixture
def at(broker: Brokerd) -> tuple[str, str]:
    """The options that name the broker."""
    return "--bootstrap-server", broker.address


@pytest.fixture
def topic() -> str:
    """The name of a topic that is not there yet."""
    return f"topic-{next(_NUMBERS)}"


@pytest.fixture
def made(at: tuple[str, str], topic: str) -> str:
    """A topic of two partitions."""
    brokerd("topics", *at, "--create", "--topic", topic, "--partitions", "2").ok()
    return topic


@pytest.fixture
def group() -> str:
    """The name of a group that is not there yet."""
    return f"group-{next(_NUMBERS)}"
