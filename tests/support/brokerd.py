"""Real brokerd processes for tests, on free ports of 127.0.0.1, always stopped.

    with BrokerdCluster.started(directory, zookeeper.connect("/mine"), brokers=2) as cluster:
        Producer({"bootstrap.servers": cluster.bootstrap_servers})
        cluster.brokers[0].kill()
        cluster.brokers[0].start()

A broker keeps its ports and its logs over `stop`, `kill` and `start`.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support import written
from tests.support.forks import BROKERS, Forked
from tests.support.ports import free_port

READY_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20
ROOT = Path(__file__).parent.parent.parent
# What Python reads when it starts, so that no fork sees another value.
_READ_ONCE = {name: os.environ.get(name) for name in ("PYTHONPATH",)}


class Brokerd:
    """One broker's process, directory and ports."""

    def __init__(
        self, directory: Path, broker_id: int, zookeeper_connect: str, settings: Mapping[str, str]
    ) -> None:
        self.id = broker_id
        self.directory = directory
        self.logs = directory / "logs"
        self.port, self.admin_port = free_port(), free_port()
        directory.mkdir(parents=True, exist_ok=True)
        self.properties = directory / "server.properties"
        self.output = directory / "output.log"
        self.process: Forked | subprocess.Popen[bytes] | None = None
        lines = {
            "broker.id": broker_id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": self.logs,
            "zookeeper.connect": zookeeper_connect,
            "brokerd.admin.port": self.admin_port,
            "brokerd.admin.token.file": directory / "admin.token",
            "offsets.topic.num.partitions": 8,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 500,
        }
        lines |= settings
        self.properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        written.by_brokerd(str(lines["log.dirs"]).split(","))

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def admin_url(self) -> str:
        return f"http://127.0.0.1:{self.admin_port}"

    def launch(self, *, is_forked: bool = True) -> None:
        """Start the process; `wait_until_ready` says when it serves. For measurements it is not
        forked from one that has its imports done."""
        assert self.process is None, "already started"
        self._output_start = self.output.stat().st_size if self.output.exists() else 0
        with self.output.open("ab") as output:
            command = ("brokerd", "start", str(self.properties))
            if is_forked and all(os.environ.get(name) == it for name, it in _READ_ONCE.items()):
                self.process = BROKERS.start(*command, output=output, environ=os.environ)
                return
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=ROOT,
            )

    def start(self) -> None:
        self.launch()
        self.wait_until_ready()

    def wait_until_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Returns at the readiness line; raises with the output where there is none."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            assert self.process is not None
            if " is ready: " in self.said():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        said = self.said()[-4000:]
        self.kill()
        raise RuntimeError(f"brokerd {self.id} did not become ready:\n{said}")

    def said(self) -> str:
        """What it has written since it was started last."""
        return self.output.read_bytes()[self._output_start :].decode(errors="replace")

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """A clean shutdown."""
        self._end(signal.SIGTERM, timeout_s)

    def kill(self) -> None:
        self._end(signal.SIGKILL, STOP_TIMEOUT_S)

    def _end(self, number: signal.Signals, timeout_s: float) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise RuntimeError(f"brokerd {self.id} did not end:\n{self.said()[-4000:]}") from None


class BrokerdCluster:
    """Some brokers on one chroot of ZooKeeper."""

    def __init__(self, brokers: list[Brokerd]) -> None:
        self.brokers = brokers

    @classmethod
    @contextmanager
    def started(
        cls,
        directory: Path,
        zookeeper_connect: str,
        *,
        brokers: int = 1,
        settings: Mapping[str, str] | None = None,
    ) -> Iterator["BrokerdCluster"]:
        """`settings` are properties of every broker, with Kafka's names."""
        cluster = cls(
            [
                Brokerd(directory / f"brokerd-{number}", number, zookeeper_connect, settings or {})
                for number in range(1, brokers + 1)
            ]
        )
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.kill()

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    def start(self) -> None:
        for broker in self.brokers:
            broker.launch()
        for broker in self.brokers:
            broker.wait_until_ready()

    def stop(self) -> None:
        for broker in self.brokers:
            broker.stop()

    def kill(self) -> None:
        for broker in self.brokers:
            broker.kill()
