"""A whole stack for measurements, without the demo: `manage.py up` with three brokers, and the
topics and groups of a large cluster, each topic with four partitions of one replica.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from bench.in_checkout.synthetic import PARTITIONS_PER_TOPIC, TOPICS_PER_GROUP, Synthetic
from bench.servers import ROOT
from tests.support.ports import free_broker_ports, free_port

SLUG = "local"
"""Of the cluster of the stack."""
_READY = re.compile(r"^Aerie is ready", re.MULTILINE)
_READY_TIMEOUT_S, _STOP_TIMEOUT_S, _CREATE_TIMEOUT_S = 180, 60, 300
_TOPICS_A_REQUEST, _GROUPS_AT_ONCE = 250, 100


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack: its data folder, the console's URL and the port of the first broker."""

    data: Path
    url: str
    broker_port: int


@contextmanager
def running(directory: Path) -> Iterator[Stack]:
    """Start a stack in a folder and on ports of its own, and stop it at the end.

    Raises RuntimeError if it does not start.
    """
    directory.mkdir(parents=True)
    data, output, port_base = directory / "data", directory / "output", free_broker_ports()
    port = free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "AERIE_DATA": str(data),
        "AERIE_PORT": str(port),
        "BROKERD_PORT_BASE": str(port_base),
        "ZOOKEEPER_PORT": str(free_port()),
        "ZOOKEEPER_HEAP": "512m",
        "REDIS_PORT": str(free_port()),
        "SPARK_CONNECT_PORT": str(free_port()),
    }
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--without", "demo"]
    with ExitStack() as stack:
        log = stack.enter_context(output.open("wb"))
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        stack.callback(_stop, process)
        deadline = time.monotonic() + _READY_TIMEOUT_S
        while not _READY.search(output.read_text(errors="replace")):
            if process.poll() is not None or time.monotonic() > deadline:
                text = output.read_text(errors="replace")
                raise RuntimeError(f"the stack did not become ready:\n{text[-2000:]}")
            time.sleep(0.2)
        yield Stack(data, f"http://127.0.0.1:{port}", port_base)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def fill(port: int, cluster: Synthetic) -> None:
    """Create the topics, and commit offsets of the groups. Raises KafkaException."""
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    for names in _parts(cluster.topics, _TOPICS_A_REQUEST):
        new = [NewTopic(name, PARTITIONS_PER_TOPIC, 1) for name in names]
        created = admin.create_topics(new, operation_timeout=60, request_timeout=120)
        for future in created.values():
            future.result(_CREATE_TIMEOUT_S)
    for start in range(0, len(cluster.groups), _GROUPS_AT_ONCE):
        numbers = range(start, min(start + _GROUPS_AT_ONCE, len(cluster.groups)))
        for commit in [_commit(admin, cluster, number) for number in numbers]:
            commit.result(_CREATE_TIMEOUT_S)


def _commit(admin: AdminClient, cluster: Synthetic, number: int) -> Future[object]:
    """Commit offsets of a group."""
    first = number * TOPICS_PER_GROUP
    offsets = [
        TopicPartition(cluster.topics[(first + index) % len(cluster.topics)], partition, 0)
        for index in range(TOPICS_PER_GROUP)
        for partition in range(PARTITIONS_PER_TOPIC)
    ]
    request = ConsumerGroupTopicPartitions(cluster.groups[number], offsets)
    futures = admin.alter_consumer_group_offsets([request], request_timeout=60)
    return next(iter(futures.values()))


def _parts(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
