"""The gaps of kazoo that are filled: a server that never answers, the timeout that was granted,
credentials that are not taken."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kazoo.exceptions import KazooException, NodeExistsError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState

from brokerd.cluster.zookeeper.kazoo_client import Client
from brokerd.security.jaas import Credentials
from tests.support.zookeeper import TICK_TIME_MS, ZooKeeper

DEADLINE_S = 15


def test_a_server_that_takes_the_connection_and_never_answers_is_left_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(DEADLINE_S)
        client = Client(f"127.0.0.1:{silent.getsockname()[1]}", 60_000)
        client.start_async()
        try:
            first, _ = silent.accept()
            second, _ = silent.accept()
            first.close()
            second.close()
        finally:
            client.stop()
            client.close()


def test_the_session_timeout_is_the_one_that_the_server_granted(zookeeper: ZooKeeper) -> None:
    client = Client(zookeeper.connect(), 60_000)
    client.start()
    try:
        assert client.granted_timeout_ms == 20 * TICK_TIME_MS
    finally:
        client.stop()
        client.close()


def test_a_chroot_of_several_levels_is_made_and_may_be_there(zookeeper: ZooKeeper) -> None:
    client = Client(f"{zookeeper.connect()}/of/several/levels", 60_000)
    client.start()
    try:
        assert client.make_chroot_async().get(DEADLINE_S) == "/of/several/levels"
        client.create("/inside")
        with pytest.raises(NodeExistsError):
            client.make_chroot_async().get(DEADLINE_S)
        assert client.get_children("/") == ["inside"]
    finally:
        client.stop()
        client.close()


@contextmanager
def client_of(connect: str, credentials: Credentials | None) -> Iterator[tuple[Client, list[str]]]:
    """A client that is not started, and the states that it tells."""
    client, states = Client(connect, 10_000, credentials=credentials), list[str]()
    client.add_listener(lambda state: states.append(state))
    try:
        yield client, states
    finally:
        client.stop()
        client.close()


def test_credentials_that_are_right_are_taken(secured_zookeeper: ZooKeeper) -> None:
    connect, credentials = secured_zookeeper.connect(), secured_zookeeper.credentials
    with client_of(connect, credentials) as (client, states):
        client.start(DEADLINE_S)
        assert "zookeeper" in client.get_children("/")
        assert states == [KazooState.CONNECTED]
        assert client.refusal == ""


def test_without_credentials_nobody_is_served(secured_zookeeper: ZooKeeper) -> None:
    with client_of(secured_zookeeper.connect(), None) as (client, _):
        client.start(DEADLINE_S)
        with pytest.raises(KazooException):
            client.get_children("/")


def test_wrong_credentials_never_count_as_connected_and_the_reason_is_kept(
    secured_zookeeper: ZooKeeper,
) -> None:
    wrong = Credentials("broker", "wrong")
    with client_of(secured_zookeeper.connect(), wrong) as (client, states):
        with pytest.raises(KazooTimeoutError):
            client.start(3)
        assert "ZooKeeper did not take the credentials" in client.refusal
        assert states == []


def test_a_connection_that_ends_while_credentials_are_shown_is_tried_again() -> None:
    pytest.importorskip("puresasl")
    # ConnectResponse: protocol version, timeout, session id, password of 16 bytes, not read-only.
    granted = struct.pack(">iiqi16s?", 0, 10_000, 7, 16, bytes(16), False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(DEADLINE_S)
        address = f"127.0.0.1:{server.getsockname()[1]}"
        right = Credentials("broker", "right")
        with client_of(address, right) as (client, states):
            client.start_async()
            for _ in range(3):
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(DEADLINE_S)
                    assert connection.recv(4096)
                    connection.sendall(struct.pack(">i", len(granted)) + granted)
                    assert connection.recv(4096)  # the first of SASL
            assert states == []
