"""The servers under measurement: brokerd and Apache Kafka beside one ZooKeeper, on free ports."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path

from tests.support.ports import free_port
from tests.support.zookeeper import ZooKeeper

ROOT = Path(__file__).parent.parent
KAFKA = ROOT / "bench" / "kafka.sh"
NO_KAFKA = 3
BROKERD = "brokerd"
KAFKA_NAME = "Apache Kafka 3.9"
VALIDATING = "brokerd, validate.records=all"
READY_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30
STARTS_MAX = 3
PROBE_FROM = ("127.0.0.2", 0)
"""From the same address a connection to a port that nobody listens on can become one to itself, and
then the broker finds its port taken."""
# Both brokers. The default of a minute would keep the files of many loads on the disk at once; that
# of 15 s between looks for logs to clean would be measured with the cleaning.
SETTINGS = ("log.segment.delete.delay.ms=1000", "log.cleaner.backoff.ms=100")
_TICKS = os.sysconf("SC_CLK_TCK")
_CPU_CLOCK = 2  # of a process by its number, as clock_getcpuclockid(3) makes it
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process:
    """What a process uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def cpu_seconds(self) -> float:
        """CPU time so far, user and system."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def precise_cpu_seconds(self) -> float:
        """CPU time so far to the nanosecond, with that of threads that have ended."""
        return time.clock_gettime((~self.pid << 3) | _CPU_CLOCK)

    @property
    def has_ended(self) -> bool:
        """Whether the process is no more, or is only waited for."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except FileNotFoundError:
            return True
        return stat.rpartition(")")[2].split()[0] in "ZX"

    def rss_bytes(self) -> int:
        """Resident memory. Raises FileNotFoundError when the process is no more."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_BYTES


class Server(Process):
    """A broker process: where it listens, what it uses, how long its start took."""

    def __init__(self, name: str, port: int, logs: Path, pid: int, ready_s: float) -> None:
        super().__init__(pid)
        self.name = name
        self.port = port
        self.logs = logs
        self.ready_s = ready_s
        self.admin_port = 0
        self.start_another: Callable[[], tuple[float, float]] = _cannot
        """Starts its like beside it, empty, and stops it: seconds and CPU seconds until ready."""

    @property
    def address(self) -> str:
        """Host and port of its listener, as clients take them."""
        return f"127.0.0.1:{self.port}"

    def metrics_request(self) -> urllib.request.Request:
        """What a scraper asks brokerd."""
        token = (self.logs / "admin.token").read_text().strip()
        return urllib.request.Request(
            f"http://127.0.0.1:{self.admin_port}/metrics",
            headers={"Authorization": f"Bearer {token}"},
        )


def _cannot() -> tuple[float, float]:
    raise RuntimeError("this server was not started by `running`")


@contextmanager
def running(
    directory: Path, names: Sequence[str], beside: Path | None = None
) -> Iterator[dict[str, Server]]:
    """The servers of these names, each in a chroot of one ZooKeeper; all are stopped at the end.

    `beside`: another checkout, whose brokerd takes the place of Kafka.
    """
    starts = dict(_STARTS)
    if beside is not None:
        starts[KAFKA_NAME] = partial(_brokerd, name="brokerd beside", root=beside.resolve())
    numbers = count(1)
    with ExitStack() as stack:
        zookeeper = stack.enter_context(ZooKeeper.started(directory / "zookeeper"))

        def start(name: str) -> AbstractContextManager[Server]:
            number = next(numbers)
            place = directory / f"broker-{number}"
            place.mkdir()
            return starts[name](place, zookeeper.connect(f"/bench-{number}"))

        def start_and_stop(name: str) -> tuple[float, float]:
            with start(name) as server:
                return server.ready_s, server.cpu_seconds()

        def started(name: str) -> Server:
            for _ in range(STARTS_MAX - 1):
                with suppress(RuntimeError):  # somebody may have taken its port meanwhile
                    return stack.enter_context(start(name))
            return stack.enter_context(start(name))

        servers = {name: started(name) for name in names}
        for name, server in servers.items():
            server.start_another = partial(start_and_stop, name)
        yield servers


def kafka_problem() -> str | None:
    """Why Kafka cannot be measured here, as its script says it; None if it can."""
    done = subprocess.run([KAFKA, "fetch"], capture_output=True, check=False)
    return done.stderr.decode().strip() if done.returncode == NO_KAFKA else None


@contextmanager
def _brokerd(
    directory: Path, zookeeper: str, name: str = BROKERD, settings: str = "", root: Path = ROOT
) -> Iterator[Server]:
    port, admin_port = free_port(), free_port()
    logs = directory / "logs"
    properties = directory / "brokerd.properties"
    properties.write_text(
        f"broker.id=1\nlisteners=PLAINTEXT://127.0.0.1:{port}\nlog.dirs={logs}\n"
        f"zookeeper.connect={zookeeper}\nbrokerd.admin.port={admin_port}\n"
        "group.initial.rebalance.delay.ms=0\n" + "\n".join([*SETTINGS, settings]) + "\n"
    )
    command = [sys.executable, "-m", "brokerd", "start", str(properties)]
    with _process(name, command, port, logs, root) as server:
        server.admin_port = admin_port
        yield server


@contextmanager
def _kafka(directory: Path, zookeeper: str) -> Iterator[Server]:
    port = free_port()
    home = directory / "kafka"
    command = [str(KAFKA), "broker", str(home), str(port), "1", zookeeper, *SETTINGS]
    with _process(KAFKA_NAME, command, port, home / "logs") as server:
        yield server


_STARTS: dict[str, Callable[[Path, str], AbstractContextManager[Server]]] = {
    BROKERD: _brokerd,
    KAFKA_NAME: _kafka,
    VALIDATING: partial(_brokerd, name=VALIDATING, settings="brokerd.validate.records=all"),
}


@contextmanager
def _process(
    name: str, command: list[str], port: int, logs: Path, root: Path = ROOT
) -> Iterator[Server]:
    output = logs.parent / "output.log"
    output.parent.mkdir(exist_ok=True)
    begin = time.monotonic()
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=root, env=_environment())
    try:
        _wait_until_it_answers(name, port, process, output)
        yield Server(name, port, logs, process.pid, time.monotonic() - begin)
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """Ours, but Python keeps what it compiles, as it does by default: a start would pay for it."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def _wait_until_it_answers(
    name: str, port: int, process: subprocess.Popen[bytes], output: Path
) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1, PROBE_FROM) as connection:
                connection.sendall(struct.pack(">ihhih", 10, 18, 0, 1, -1))
                if connection.recv(4):
                    return
        except OSError:
            time.sleep(0.01)
    tail = output.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{name} did not become ready:\n{tail}")


def free_space_bytes(directory: Path) -> int:
    """What is free on the file system of a directory."""
    return shutil.disk_usage(directory).free
