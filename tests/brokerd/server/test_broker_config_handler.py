"""What is told when a broker's settings change: the parts that keep a copy of them."""

from typing import Any

import pytest

from brokerd.config.broker_config import BrokerConfig, parse
from brokerd.security.ssl_engine_factory import TlsError
from brokerd.server.broker_config_handler import BrokerConfigHandler, endpoints
from brokerd.server.network.listener_sockets import BindError

FILE = "broker.id=1\nlog.dirs=/l\nzookeeper.connect=z\n"


ADDED = {
    "listeners": "PLAINTEXT://127.0.0.1:9092,EXTRA://127.0.0.1:1,OTHER://127.0.0.1:2",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT,OTHER:PLAINTEXT",
}


def of_extra(error: TlsError) -> TlsError:
    error.listener = "EXTRA"
    return error


class SocketServer:
    def __init__(self) -> None:
        self.config: BrokerConfig | None = None
        self.opened = 0
        self.error: Exception | None = None
        self.free: set[int] = set()
        """Ports that can be opened all the same."""

    async def open(self, config: BrokerConfig) -> BrokerConfig:
        self.opened += 1
        if self.error is not None and not {each.port for each in config.listeners} <= self.free:
            raise self.error
        return config

    def reconfigure(self, config: BrokerConfig) -> None:
        self.config = config


@pytest.fixture
def socket_server() -> SocketServer:
    return SocketServer()


@pytest.fixture
def live(socket_server: SocketServer) -> BrokerConfigHandler:
    opened: Any = socket_server
    return BrokerConfigHandler(parse(FILE), opened, socket_server.reconfigure)


async def test_a_key_that_cannot_be_opened_keeps_no_other_setting_from_holding(
    live: BrokerConfigHandler, socket_server: SocketServer, caplog: pytest.LogCaptureFixture
) -> None:
    socket_server.error = TlsError("no such file")
    await live.take_over({"1": {"max.connections": "5", "log.retention.ms": "soon"}})
    assert socket_server.config.max_connections == 5
    assert socket_server.config.listeners == live.config.listeners
    assert "no such file" in caplog.text
    assert "log.retention.ms: 'soon' is not a whole number" in caplog.text


async def test_listeners_that_cannot_be_opened_leave_those_there_are(
    live: BrokerConfigHandler, socket_server: SocketServer, caplog: pytest.LogCaptureFixture
) -> None:
    before = live.config.listeners
    socket_server.error = BindError("cannot listen on PLAINTEXT: Permission denied", "PLAINTEXT")
    await live.take_over({"1": ADDED | {"max.connections": "5"}})
    assert (live.config.listeners, live.config.max_connections) == (before, 5)
    assert [each.port for each in endpoints(live.config)] == [9092]
    assert "stay as they are: cannot listen on" in caplog.text
    with pytest.raises(BindError):  # a broker does not begin like this
        live.require_listeners()
    socket_server.error = None
    await live.take_over({"1": ADDED})
    live.require_listeners()
    assert [each.port for each in endpoints(live.config)] == [9092, 1, 2]


@pytest.mark.parametrize("error", [BindError("taken", "EXTRA"), of_extra(TlsError("no file"))])
async def test_a_listener_that_was_added_and_cannot_be_opened_keeps_no_other_away(
    live: BrokerConfigHandler,
    socket_server: SocketServer,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    socket_server.error, socket_server.free = error, {9092, 2}
    await live.take_over({"1": ADDED})
    live.require_listeners()
    assert [each.name for each in live.config.listeners] == ["PLAINTEXT", "OTHER"]
    assert [each.port for each in endpoints(live.config)] == [9092, 2]
    (said,) = [each for each in caplog.messages if "This listener was set while" in each]
    assert said.startswith(f"{error}. ")
    assert said.endswith(
        "brokerd configs --bootstrap-server 127.0.0.1:9092 --alter --entity-type brokers"
        " --entity-name 1 --delete-config listener.security.protocol.map,listeners"
    )
    socket_server.error = None
    await live.take_over({"1": ADDED})
    socket_server.error, socket_server.free = error, {9092, 1, 2}
    await live.take_over({"1": ADDED | {"listeners": ADDED["listeners"].replace(":1,", ":3,")}})
    assert {each.port for each in live.config.listeners} == {9092, 1, 2}, "it stays where it was"


async def test_what_somebody_wrote_into_zookeeper_reaches_no_further_than_the_file(
    live: BrokerConfigHandler, caplog: pytest.LogCaptureFixture
) -> None:
    moved = {"listeners": "PLAINTEXT://127.0.0.1:1", "max.connections": "5"}
    await live.take_over({"1": moved})
    assert [each.port for each in live.config.listeners] == [9092]
    assert live.config.max_connections == 5
    assert "is of the properties file and stays as it is there" in caplog.text


async def test_what_is_the_same_is_told_to_nobody_but_stores_are_opened_again(
    live: BrokerConfigHandler, socket_server: SocketServer
) -> None:
    assert not await live.take_over({"1": {}})
    assert (socket_server.opened, socket_server.config) == (1, None)


async def test_what_kafka_changes_live_and_this_broker_does_not_is_told_once(
    live: BrokerConfigHandler, caplog: pytest.LogCaptureFixture
) -> None:
    own = {"ssl.client.auth": "none", "listener.name.plaintext.max.connections.per.ip": "5"}
    for _ in range(2):
        await live.take_over({"1": own})
    told = [each.getMessage() for each in caplog.records]
    assert len(told) == 1
    assert "effect: listener.name.plaintext.max.connections.per.ip, ssl.client.auth: " in told[0]
