"""What a client cannot do to a broker by setting its listeners: nobody is authenticated."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.interop.test_listeners_live import LISTENERS, Settings, alter, listening, told
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.pki import Authority
from tests.support.ports import free_port
from tests.support.waiting import wait_until
from tests.support.wire import Wire, is_open
from tests.support.zookeeper import ZooKeeper

STORES = ("listener.name.tls.ssl.keystore.", "listener.name.tls.ssl.truststore.")


@pytest.fixture(scope="module")
def broker(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokerd]:
    directory, connect = tmp_path_factory.mktemp("bounded"), zookeeper.connect("/bounded")
    with BrokerdCluster.started(directory, connect) as started:
        yield started.brokers[0]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    issued = Authority("bounded").issue("broker")
    path = tmp_path / "store.pem"
    path.write_text(issued.key + issued.chain)
    return path


def secured(broker: Brokerd, **locations: object) -> Settings:
    """A listener with TLS and these stores."""
    settings = listening(broker.port, f"TLS://127.0.0.1:{free_port()}")
    for kind, location in locations.items():
        prefix = f"listener.name.tls.ssl.{kind}."
        settings |= {f"{prefix}type": "PEM", f"{prefix}location": str(location)}
    return settings


def altered_as_a_whole(port: int, settings: Settings, *, tried: bool) -> tuple[int, str]:
    """By AlterConfigs."""
    rows = [{"name": name, "value": text} for name, text in settings.items()]
    resource = {"resource_type": 4, "resource_name": "1", "configs": rows}
    with Wire(port) as wire:
        asked = {"resources": [resource], "validate_only": tried}
        (answer,) = wire.ask(ApiKey.ALTER_CONFIGS, 1, asked).responses
    return answer.error_code, answer.error_message


def test_whatever_lies_at_the_path_of_a_store_the_answer_is_the_same(
    broker: Brokerd, store: Path, tmp_path: Path
) -> None:
    pipe, unread, large = (tmp_path / name for name in ("pipe", "unread", "large"))
    os.mkfifo(pipe)
    unread.write_text("secret")
    unread.chmod(0)
    with large.open("wb") as file:
        file.truncate(1 << 40)
    for path in (pipe, unread, large, tmp_path, "/dev/zero", "/etc/passwd", "/no/such/file",
                 "/proc/self/environ", "/proc/kmsg"):  # fmt: skip
        for kind in ("keystore", "truststore"):
            settings = secured(broker, **{"keystore": store, kind: path})
            said = f"listener.name.tls.ssl.{kind}.location: the store could not be loaded; the"
            for tried in (True, False):
                answer = alter(broker.port, settings, tried=tried)
                assert answer.error_code == ErrorCode.INVALID_REQUEST
                assert answer.error_message == f"{said} broker's log says why"
                whole = altered_as_a_whole(broker.port, settings, tried=tried)
                assert whole == (answer.error_code, answer.error_message)
    assert f"cannot read {pipe}: it is not a regular file" in broker.said()
    assert "cannot read /no/such/file: No such file or directory" in broker.said()
    assert told(broker.port) == [(1, "127.0.0.1", broker.port)]


def test_records_that_a_client_wrote_are_no_store(broker: Brokerd, store: Path) -> None:
    there = broker.logs / "store.pem"
    there.write_text(store.read_text())
    answer = alter(broker.port, secured(broker, keystore=there))
    there.unlink()
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert f"cannot read {there}: it lies in log.dirs" in broker.said()


def refusal(broker: Brokerd, settings: Settings) -> str:
    answer = alter(broker.port, settings)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert told(broker.port) == [(1, "127.0.0.1", broker.port)]
    words, _, advice = answer.error_message.rpartition(". While clients are not authenticated, ")
    assert advice.endswith("properties file only: set it there and restart the broker")
    return str(words)


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "[::ffff:0.0.0.0]", ""])
def test_a_listener_that_reaches_further_than_those_of_the_file_is_refused(
    broker: Brokerd, host: str
) -> None:
    extra = f"EXTRA://{host}:{free_port()}"
    told = f"PLAINTEXT://127.0.0.1:{broker.port}"
    settings = listening(broker.port, extra) | {"advertised.listeners": told}
    assert "can be reached from where no listener of the properties file can be" in refusal(
        broker, settings
    )


def test_clients_are_not_led_elsewhere(broker: Brokerd) -> None:
    extra, here = free_port(), f"PLAINTEXT://127.0.0.1:{broker.port}"
    elsewhere = {"advertised.listeners": "PLAINTEXT://evil.example:9092"}
    assert "stays as it is there" in refusal(broker, elsewhere)
    settings = listening(broker.port, f"EXTRA://127.0.0.1:{extra}")
    for place in (f"evil.example:{extra}", f"127.0.0.1:{extra - 1}"):
        settings["advertised.listeners"] = f"{here},EXTRA://{place}"
        assert f"EXTRA://{place} leads clients to another host" in refusal(broker, settings)


def test_listeners_of_the_file_are_neither_moved_nor_removed(broker: Brokerd) -> None:
    extra = free_port()
    moved = {"listeners": f"PLAINTEXT://127.0.0.1:{extra}"}
    assert "stays as it is there" in refusal(broker, moved)
    assert not is_open(extra)
    taken = listening(broker.port) | {"listeners": f"EXTRA://127.0.0.1:{broker.port}"}
    assert alter(broker.port, taken).error_code == ErrorCode.INVALID_REQUEST


def test_a_broker_starts_without_a_listener_that_was_added_and_has_lost_its_store(
    broker: Brokerd, store: Path
) -> None:
    settings = secured(broker, keystore=store)
    assert alter(broker.port, settings).error_code == 0
    added = str(settings["listeners"]).rpartition(":")[2]
    wait_until(lambda: is_open(int(added)), "it is open")
    broker.stop()
    store.unlink()
    broker.start()
    assert not is_open(int(added))
    assert f"cannot read {store}: No such file or directory. This listener was" in broker.said()
    assert told(broker.port) == [(1, "127.0.0.1", broker.port)]
    assert alter(broker.port, {"log.retention.ms": "1000000"}).error_code == 0
    names = (*LISTENERS, *(prefix + each for prefix in STORES for each in ("type", "location")))
    assert alter(broker.port, dict.fromkeys(names)).error_code == 0


def test_a_broker_starts_without_a_listener_that_was_added_and_whose_port_is_taken(
    broker: Brokerd,
) -> None:
    extra = free_port()
    assert alter(broker.port, listening(broker.port, f"EXTRA://127.0.0.1:{extra}")).error_code == 0
    wait_until(lambda: is_open(extra), "it is open")
    broker.stop()
    with socket.create_server(("127.0.0.1", extra)):
        broker.start()
        assert told(broker.port) == [(1, "127.0.0.1", broker.port)]
        assert f"cannot listen on EXTRA://127.0.0.1:{extra}" in broker.said()
    assert alter(broker.port, dict.fromkeys(LISTENERS)).error_code == 0
