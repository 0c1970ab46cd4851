"""The demo traffic with real brokers: records are sent and read, also across an outage."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from monitoring.gateway.brokerd_admin_urls import LOOPBACK, AdminUrls
from stack.demo.topics import LOAD_SEQUENCE
from stack.demo.traffic import DemoConfig, run_load, run_real
from tests.support.brokerd import BrokerdCluster
from tests.support.zookeeper import ZooKeeper

DEADLINE_S = 60


@pytest.fixture(scope="module")
def cluster(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    folder = tmp_path_factory.mktemp("demo")
    with BrokerdCluster.started(folder, zookeeper.connect("/demo"), brokers=1) as brokers:
        yield brokers


@pytest.fixture
def config(cluster: BrokerdCluster, tmp_path: Path) -> DemoConfig:
    (tmp_path / "logs").mkdir()
    [broker] = cluster.brokers
    token = (broker.directory / "admin.token").read_text().strip()
    return DemoConfig(
        bootstrap_servers=cluster.bootstrap_servers,
        admin=AdminUrls({"1": broker.admin_url}, token, (LOOPBACK,)),
        logs=tmp_path / "logs",
        positions=tmp_path / "positions",
        rate=200,
        load_rate=3_000,
    )


@pytest.fixture
def running() -> Iterator[Callable[..., None]]:
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def start(job: Callable[..., None], config: DemoConfig) -> None:
        threads.append(threading.Thread(target=job, args=(config, stop)))
        threads[-1].start()

    yield start
    stop.set()
    for thread in threads:
        thread.join(DEADLINE_S)


def log_request(config: DemoConfig, path: str) -> None:
    with (config.logs / "access.jsonl").open("a") as file:
        file.write(json.dumps({"path": path, "status": 200}) + "\n")


def records(config: DemoConfig, topic: str, is_enough: Callable[[list[dict]], bool]) -> list[dict]:
    """The first values of a topic; waits until there are enough."""
    consumer = Consumer({"bootstrap.servers": config.bootstrap_servers, "group.id": "looking"})
    found: list[dict] = []
    deadline = time.monotonic() + DEADLINE_S
    try:
        while topic not in consumer.list_topics(timeout=10).topics:
            assert time.monotonic() < deadline, f"{topic} was never created"
            time.sleep(0.1)
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        while not is_enough(found):
            assert time.monotonic() < deadline, f"too little arrived in {topic}: {found[-3:]}"
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                found.append(json.loads(message.value()))
        return found
    finally:
        consumer.close()


def paths(found: list[dict]) -> list[str]:
    return [record["path"] for record in found]


def test_records_arrive_are_read_by_three_groups_and_survive_an_outage(
    cluster: BrokerdCluster, config: DemoConfig, running: Callable[..., None]
) -> None:
    log_request(config, "/before")
    running(run_real, config)
    records(config, "console.access", lambda found: "/before" in paths(found))
    records(config, "host.processes", lambda found: len(found) > 100)
    records(config, "host.cpu", lambda found: len(found) > 1)
    wait_for_groups(config, {"demo-fast": 2, "demo-slow": 1, "demo-on-off": 1})

    cluster.brokers[0].kill()
    log_request(config, "/during")
    cluster.brokers[0].start()
    found = records(config, "console.access", lambda found: "/during" in paths(found))
    assert set(paths(found)) == {"/before", "/during"}
    # Recovery at the broker's start is also an event.
    records(config, "brokerd.events", lambda found: any(e["type"] == "recovery" for e in found))


def wait_for_groups(config: DemoConfig, members: dict[str, int]) -> None:
    admin = AdminClient({"bootstrap.servers": config.bootstrap_servers})
    deadline = time.monotonic() + DEADLINE_S
    while True:
        described = admin.describe_consumer_groups(list(members), request_timeout=10)
        now = {name: len(future.result().members) for name, future in described.items()}
        if now == members:
            return
        assert time.monotonic() < deadline, f"the groups have {now} members"
        time.sleep(0.2)


def test_load_records_are_a_counter_without_holes(
    config: DemoConfig, running: Callable[..., None]
) -> None:
    running(run_load, config)
    found = records(config, LOAD_SEQUENCE, lambda found: len(found) >= 3_000)
    numbers = sorted(record["sequence"] for record in found)
    assert len(set(numbers)) == len(numbers)
    assert numbers[0] == 0
