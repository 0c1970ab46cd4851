"""One real Apache Kafka broker for tests, by bench/kafka.sh; skipped where there is none."""

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.zookeeper import free_port

_SCRIPT = Path(__file__).parent.parent.parent / "bench" / "kafka.sh"
_NOT_THERE = 3  # kafka.sh: neither KAFKA_HOME nor Maven
_FETCH_S, _READY_S = 600, 90


@contextmanager
def apache_kafka(directory: Path, zookeeper_connect: str, broker_id: int = 1) -> Iterator[str]:
    """A running broker on the given chroot of ZooKeeper; yields its bootstrap address."""
    fetched = subprocess.run([_SCRIPT, "fetch"], capture_output=True, timeout=_FETCH_S)
    if fetched.returncode == _NOT_THERE:
        pytest.skip(fetched.stderr.decode().strip())
    fetched.check_returncode()
    port = free_port()
    with (directory / "kafka.log").open("wb") as output:
        process = subprocess.Popen(
            [_SCRIPT, "broker", directory / "kafka", str(port), str(broker_id), zookeeper_connect],
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
    """The same of any files of logs; as many as one start of the tool takes, and no more."""
    files = sorted(map(str, paths))
    common = os.path.commonpath(files) if len(files) > 1 else "/"
    done = subprocess.run(
        [str(_SCRIPT), "dump-log", "--deep-iteration", *options, "--files",
         ",".join(os.path.relpath(path, common) for path in files)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        cwd=common,
    )  # fmt: skip
    if done.returncode == _NOT_THERE:
        pytest.skip(f"Apache Kafka is not here: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout
    return done.stdout


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
