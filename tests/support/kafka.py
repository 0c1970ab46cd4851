"""One real Apache Kafka broker for tests, by bench/kafka.sh; skipped where there is none."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.kafka_tools import KAFKA, fetch_kafka, kafka
from tests.support.zookeeper import free_port

_READY_S = 90
_FILES_MAX = 500  # a longer argument is more than a process is given


@contextmanager
def apache_kafka(directory: Path, zookeeper_connect: str, broker_id: int = 1) -> Iterator[str]:
    """A running broker on the given chroot of ZooKeeper; yields its bootstrap address."""
    fetch_kafka()
    port = free_port()
    with (directory / "kafka.log").open("wb") as output:
        process = subprocess.Popen(
            [KAFKA, "broker", directory / "kafka", str(port), str(broker_id), zookeeper_connect],
            stdout=output,
            stderr=output,
            env=os.environ | {"KAFKA_HEAP_OPTS": "-Xms128m -Xmx512m"},
            start_new_session=True,  # bash and java end together
        )
    try:
        _wait_until_ready(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def dump_of_log(directory: Path, *options: str) -> str:
    """What Kafka's dump tool says of all files of a log, standard error included."""
    suffixes = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
    return dump_of_files([p for p in directory.iterdir() if p.suffix in suffixes], *options)


def dump_of_files(paths: Iterable[Path], *options: str) -> str:
    """The same of any files of logs."""
    texts, files = [], sorted(map(str, paths))
    for first in range(0, len(files), _FILES_MAX):
        some = ",".join(files[first : first + _FILES_MAX])
        said = kafka("dump-log", "--deep-iteration", *options, "--files", some)
        assert said.code == 0, said.err
        texts.append(said.out + said.err)
    return "".join(texts)


def _wait_until_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    client = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            if client.list_topics(timeout=1).brokers:
                return
        except KafkaException:
            pass
        assert process.poll() is None, "Apache Kafka ended while it started"
        assert time.monotonic() < deadline, f"Apache Kafka was not ready within {_READY_S} s"
