"""The servers under measurement: one ZooKeeper, one brokerd, one Apache Kafka, on free ports."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.zookeeper import ZooKeeper, free_port

ROOT = Path(__file__).parent.parent
KAFKA = ROOT / "bench" / "kafka.sh"
NO_KAFKA = 3
READY_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30
# Both brokers; the default of a minute would keep the files of many loads on the disk at once.
DELETE_DELAY = "log.segment.delete.delay.ms=1000"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process:
    """What a process uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cpu_seconds(self) -> float:
        """CPU time so far, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def rss_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_BYTES


class Server(Process):
    """A broker process: where it listens and what it uses."""

    def __init__(self, name: str, port: int, logs: Path, pid: int) -> None:
        super().__init__(pid)
        self.name = name
        self.port = port
        self.logs = logs

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def running(directory: Path, *, with_kafka: bool) -> Iterator[list[Server]]:
    """brokerd, then Kafka if it is wanted; everything is stopped at the end."""
    with ExitStack() as stack:
        zookeeper = stack.enter_context(ZooKeeper.started(directory / "zookeeper"))
        servers = [stack.enter_context(_brokerd(directory, zookeeper.connect("/brokerd")))]
        if with_kafka:
            servers.append(stack.enter_context(_kafka(directory, zookeeper.connect("/kafka"))))
        yield servers


def kafka_problem() -> str | None:
    """Why Kafka cannot be measured here, as its script says it; None if it can."""
    done = subprocess.run([KAFKA, "fetch"], capture_output=True, check=False)
    return done.stderr.decode().strip() if done.returncode == NO_KAFKA else None


@contextmanager
def _brokerd(directory: Path, zookeeper: str) -> Iterator[Server]:
    port = free_port()
    logs = directory / "brokerd-logs"
    properties = directory / "brokerd.properties"
    properties.write_text(
        f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:{port}\nlog.dirs={logs}\n"
        f"zookeeper.connect={zookeeper}\nbrokerd.admin.port={free_port()}\n"
        f"{DELETE_DELAY}\n"
    )
    command = [sys.executable, "-m", "brokerd", "start", str(properties)]
    with _process("brokerd", command, port, logs) as server:
        yield server


@contextmanager
def _kafka(directory: Path, zookeeper: str) -> Iterator[Server]:
    port = free_port()
    home = directory / "kafka"
    command = [str(KAFKA), "broker", str(home), str(port), "1", zookeeper, DELETE_DELAY]
    with _process("Apache Kafka 3.9", command, port, home / "logs") as server:
        yield server


@contextmanager
def _process(name: str, command: list[str], port: int, logs: Path) -> Iterator[Server]:
    output = logs.parent / f"{name.split()[0].lower()}.log"
    output.parent.mkdir(exist_ok=True)
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
    try:
        _wait_until_it_answers(name, port, process, output)
        yield Server(name, port, logs, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(
    name: str, port: int, process: subprocess.Popen[bytes], output: Path
) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as connection:
                connection.sendall(struct.pack(">ihhih", 10, 18, 0, 1, -1))
                if connection.recv(4):
                    return
        except OSError:
            time.sleep(0.05)
    tail = output.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{name} did not become ready:\n{tail}")


def free_space_bytes(directory: Path) -> int:
    return shutil.disk_usage(directory).free
