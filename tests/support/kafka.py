"""Real brokers of Apache Kafka for tests, by bench/kafka.sh; skipped where there is none."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kazoo.exceptions import NoNodeError

from brokerd.cluster.zookeeper.kazoo_client import Client
from tests.support.kafka_tools import KAFKA, fetch_kafka, kafka
from tests.support.ports import free_port
from tests.support.zookeeper import ZooKeeper

_READY_S, _STOP_S = 90, 60
_FILES_MAX = 500  # a longer argument is more than a process is given
_SETTINGS = {
    "offsets.topic.num.partitions": "8",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}


class ApacheKafka:
    """One broker's process; it keeps its port and its logs over `stop`, `kill` and `start`."""

    def __init__(
        self,
        directory: Path,
        zookeeper_connect: str,
        *,
        broker_id: int = 1,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        login: ZooKeeper | None = None,
    ) -> None:
        """`settings` are properties with Kafka's names, `log.dirs` for another's directory. `login`
        is a ZooKeeper whose JAAS file of brokers is used, if it has SASL."""
        self.id, self.port = broker_id, port or free_port()
        self.directory, self.zookeeper_connect = directory, zookeeper_connect
        self.settings = {**_SETTINGS, **(settings or {})}
        self._environment = dict[str, str]()
        self._credentials = login and login.credentials
        if login is not None and login.credentials:
            self.settings["zookeeper.set.acl"] = "true"
            option = f"-Djava.security.auth.login.config={login.jaas_file}"
            self._environment["KAFKA_OPTS"] = option
        self.logs = Path(self.settings.get("log.dirs", directory / "kafka" / "logs"))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns once it answers."""
        assert self.process is None, "already started"
        fetch_kafka()
        with (self.directory / "kafka.log").open("ab") as output:
            self.process = subprocess.Popen(
                [KAFKA, "broker", self.directory / "kafka", str(self.port), str(self.id),
                 self.zookeeper_connect, *(f"{key}={it}" for key, it in self.settings.items())],
                stdout=output,
                stderr=output,
                env=os.environ
                | {"KAFKA_HEAP_OPTS": "-Xms128m -Xmx512m -XX:TieredStopAtLevel=1"}
                | self._environment,
            )  # fmt: skip
        _wait_until_ready(self.port, self.process)

    def stop(self) -> None:
        """A clean shutdown."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Without warning; ZooKeeper takes it for alive until its session has timed out."""
        self._end(signal.SIGKILL)

    def forget(self) -> None:
        """What ZooKeeper does when the session of a broker that was killed times out."""
        client = Client(self.zookeeper_connect, 10_000, credentials=self._credentials)
        client.start()
        for path in (f"/brokers/ids/{self.id}", "/controller"):
            try:
                client.delete(path)
            except NoNodeError:
                pass
        client.stop()
        client.close()

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(_STOP_S)
            finally:
                process.kill()


@contextmanager
def apache_kafka(
    directory: Path, zookeeper_connect: str, broker_id: int = 1
) -> Iterator[ApacheKafka]:
    """A running broker on the given chroot of ZooKeeper."""
    broker = ApacheKafka(directory, zookeeper_connect, broker_id=broker_id)
    try:
        broker.start()
        yield broker
    finally:
        broker.kill()


@pytest.fixture(scope="session")
def shared_kafka(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheKafka]:
    """One broker for the whole run; who uses it takes topics and groups of its own."""
    directory = tmp_path_factory.mktemp("apache-kafka")
    with apache_kafka(directory, zookeeper.connect("/apache")) as broker:
        yield broker


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
