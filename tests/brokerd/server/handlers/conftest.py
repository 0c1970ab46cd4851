"""Two real brokers for the tests of administration, and a client that asks exactly what it is
told."""

import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_request
from tests.support.brokerd import BrokerdCluster
from tests.support.zookeeper import ZooKeeper

TIMEOUT_S = 20
Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def brokers(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    settings = {"num.partitions": "3", "log.retention.hours": "2"}
    directory = tmp_path_factory.mktemp("handlers")
    connect = zookeeper.connect("/handlers")
    with BrokerdCluster.started(directory, connect, brokers=2, settings=settings) as cluster:
        yield cluster


@pytest.fixture
def admin(brokers: BrokerdCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": brokers.bootstrap_servers})


@pytest.fixture
def ask(brokers: BrokerdCluster) -> Ask:
    """`ask(api_key, version, fields, broker=index)` → the response as kio's object."""

    def asking(api_key: ApiKey, version: int, fields: Mapping[str, Any], *, broker: int = 0) -> Any:
        frame = encode_request(api_key, version, fields, 7, "test")
        address = ("127.0.0.1", brokers.brokers[broker].port)
        with socket.create_connection(address, timeout=TIMEOUT_S) as connection:
            connection.sendall(frame)
            size = int.from_bytes(_exactly(connection, 4), "big")
            return decode_response(api_key, version, _exactly(connection, size))

    return asking


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        assert part, "the broker closed the connection"
        data += part
    return data
