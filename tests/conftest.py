"""Fixtures that several parts of the suite share; each is real and started only when asked for."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.kafka import shared_kafka  # noqa: F401  (fixtures)
from tests.support.live_cluster import _live_brokers, live_cluster  # noqa: F401
from tests.support.processes import let_children_hear_ctrl_c
from tests.support.redis import _redis_process, redis_server  # noqa: F401
from tests.support.spark import spark, spark_process, spark_server  # noqa: F401
from tests.support.web import chromium, page, web  # noqa: F401
from tests.support.written import _everything_written  # noqa: F401
from tests.support.zookeeper import ZooKeeper

# A busy machine makes every example slow once; how long one takes says nothing about it.
# `make test ARGS=--hypothesis-profile=thorough` looks longer.
settings.register_profile("suite", deadline=None, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("suite")

let_children_hear_ctrl_c()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Modules and tests live to the end: to look for garbage among them, again and again, takes
    longer than many tests. A test leaves little, which can wait."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    """One ZooKeeper for the whole run; every test takes a chroot of its own."""
    with ZooKeeper.started(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="session")
def secured_zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeper]:
    """As `zookeeper`, of which nobody is served without credentials."""
    pytest.importorskip("puresasl")
    with ZooKeeper.started(tmp_path_factory.mktemp("secured-zookeeper"), sasl=True) as server:
        yield server
