"""The embedded ZooKeeper as the Procfile starts it, attacked by another user of the machine."""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from django.conf import settings
from kazoo.client import KazooClient
from kazoo.exceptions import KazooException

from brokerd.cluster.zookeeper.kazoo_client import Client
from brokerd.security import jaas
from stack import procfile_parser
from stack.config import StackConfig
from stack.embedded.zookeeper import CONNECTIONS_MAX, broker_login
from stack.preparation import make_folder, prepare
from tests.support.ports import free_port

pytest.importorskip("puresasl")
DEADLINE_S = 60


@dataclass
class Embedded:
    """A running embedded ZooKeeper and its port."""

    process: subprocess.Popen[bytes]
    port: int
    folder: Path

    def ask(self, word: str) -> str:
        """The answer to a four-letter word; '' if there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                connection.settimeout(5)
                connection.sendall(word.encode())
                return connection.recv(4096).decode()
        except OSError:
            return ""

    @contextlib.contextmanager
    def session_of_a_broker(self) -> Iterator[Client]:
        login = jaas.read(broker_login(self.folder))
        client = Client(f"127.0.0.1:{self.port}", 10_000, credentials=login)
        client.start(DEADLINE_S)
        try:
            yield client
        finally:
            client.stop()
            client.close()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    data = tmp_path_factory.mktemp("embedded") / "data"
    make_folder(data, print)
    config = replace(
        StackConfig.from_settings(settings),
        data=data,
        zookeeper_port=free_port(),
        embedded_zookeeper=True,
        redis_password_file=data / "redis.password",
        secret_key_file=data / "secret.key",
        admin_token_file=data / "admin.token",
        admin_password_file=data / "admin.password",
    )
    variables = prepare(config, os.environ, {"zookeeper"}).variables
    line = procfile_parser.parse((config.root / "Procfile").read_text())["zookeeper"]
    with (data / "output").open("wb") as output:
        process = subprocess.Popen(
            procfile_parser.expand(line, variables, sys.executable), stdout=output, stderr=output
        )
    server = Embedded(process, config.zookeeper_port, data / "zookeeper")
    try:
        until(lambda: process.poll() is not None or server.ask("srvr").startswith("Zookeeper"))
        assert process.poll() is None, (data / "output").read_text()
        yield server
    finally:
        process.kill()
        process.wait()


def test_a_client_without_credentials_can_neither_read_nor_write(embedded: Embedded) -> None:
    with embedded.session_of_a_broker() as broker:
        broker.ensure_path("/aerie/admin/delete_topics")  # open to the world
        for ask in (
            lambda client: client.create_async("/aerie/admin/delete_topics/x"),
            lambda client: client.get_children_async("/aerie"),
        ):
            stranger = KazooClient(f"127.0.0.1:{embedded.port}")
            stranger.start(DEADLINE_S)
            with pytest.raises(KazooException):
                ask(stranger).get(timeout=DEADLINE_S)
            stranger.stop()
            stranger.close()
        assert broker.get_children("/aerie/admin/delete_topics") == []


def test_the_credentials_are_in_private_files_and_in_no_command_line(embedded: Embedded) -> None:
    password = (embedded.folder.parent / "zookeeper.password").read_text().strip()
    files = [embedded.folder / name for name in ("server.jaas", "broker.jaas")]
    for file in [*files, embedded.folder.parent / "zookeeper.password"]:
        assert password in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
    assert password not in " ".join(map(str, embedded.process.args))  # type: ignore[arg-type]


def test_srvr_is_the_only_allowed_four_letter_word(embedded: Embedded) -> None:
    assert embedded.ask("srvr").startswith("Zookeeper version")
    for word in ("dump", "cons", "conf", "envi", "mntr", "wchs", "stat"):
        assert "not in the whitelist" in embedded.ask(word)


def test_connections_that_announce_large_requests_do_not_exhaust_the_heap(
    embedded: Embedded,
) -> None:
    with embedded.session_of_a_broker() as broker, contextlib.ExitStack() as held:
        session = broker.client_id
        for size in (1_000_000, 524_287):
            for _ in range(7 * CONNECTIONS_MAX):
                with contextlib.suppress(OSError):
                    connection = socket.create_connection(("127.0.0.1", embedded.port), 5)
                    held.enter_context(connection)
                    connection.sendall(struct.pack(">i", size))
        broker.create("/still-served", ephemeral=True)
        held.pop_all().close()
        assert broker.client_id == session
    until(lambda: embedded.ask("srvr").startswith("Zookeeper version"))
    assert embedded.process.poll() is None
    output = (embedded.folder.parent / "output").read_text(errors="replace")
    assert "OutOfMemoryError" not in output


def test_idle_connections_do_not_keep_brokers_out(embedded: Embedded) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(2 * CONNECTIONS_MAX):
            with contextlib.suppress(OSError):
                held.enter_context(socket.create_connection(("127.0.0.1", embedded.port), 5))
        with embedded.session_of_a_broker() as broker:
            assert "zookeeper" in broker.get_children("/")
