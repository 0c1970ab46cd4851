"""The gaps of kazoo that are filled: a server that never answers, the timeout that was granted."""

import socket

import pytest
from kazoo.exceptions import NodeExistsError

from brokerd.cluster.kazoo_client import Client
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
