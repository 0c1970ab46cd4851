"""Listeners of running brokers: added, moved, limited and removed, as with Apache Kafka."""

import json
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from tests.support.brokerd import Brokerd, BrokerdCluster
from tests.support.brokerd_tools import brokerd
from tests.support.kafka import ApacheKafka
from tests.support.pki import Authority
from tests.support.ports import free_port
from tests.support.waiting import wait_until
from tests.support.wire import Wire, is_open
from tests.support.zookeeper import ZooKeeper

LISTENERS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
PROTOCOLS = "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT,TLS:SSL"
LIMIT = "listener.name.extra.max.connections"
Settings = dict[str, str | None]


def alter(port: int, settings: Settings, *, broker: str = "1", tried: bool = False) -> Any:
    """Sets, or with None drops, settings of a broker that listens at `port`."""
    rows = [
        {"name": name, "config_operation": int(text is None), "value": text}
        for name, text in settings.items()
    ]
    resource = {"resource_type": 4, "resource_name": broker, "configs": rows}
    asked = {"resources": [resource], "validate_only": tried}
    with Wire(port) as wire:
        (answer,) = wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, asked).responses
    return answer


def listening(port: int, *others: str) -> Settings:
    """The settings of a broker with its first listener and others."""
    text = ",".join((f"PLAINTEXT://127.0.0.1:{port}", *others))
    return dict(zip(LISTENERS, (text, text, PROTOCOLS), strict=True))


def told(port: int) -> list[tuple[int, str, int]]:
    """The brokers as Metadata names them to who asks here."""
    with Wire(port) as wire:
        brokers = wire.ask(ApiKey.METADATA, 1, {"topics": []}).brokers
    return [(each.node_id, each.host, each.port) for each in brokers]


@pytest.fixture(scope="module")
def cluster(
    zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrokerdCluster]:
    directory = tmp_path_factory.mktemp("listeners")
    connect = zookeeper.connect("/listeners")
    with BrokerdCluster.started(directory, connect, brokers=2) as started:
        yield started


@pytest.fixture
def broker(cluster: BrokerdCluster) -> Iterator[Brokerd]:
    """It gets the listeners of its properties file back."""
    one = cluster.brokers[0]
    yield one
    names = (*LISTENERS, LIMIT, "log.retention.ms", "listener.name.tls.ssl.keystore.type",
             "listener.name.tls.ssl.keystore.location")  # fmt: skip
    assert alter(one.port, dict.fromkeys(names)).error_code == 0


def test_a_listener_is_added_told_by_all_brokers_kept_over_a_restart_and_removed(
    cluster: BrokerdCluster, broker: Brokerd
) -> None:
    here, there = cluster.brokers[0].port, cluster.brokers[1].port
    extra, others = free_port(), free_port()
    for port, number in ((here, "1"), (there, "2")):
        added = f"EXTRA://127.0.0.1:{extra if number == '1' else others}"
        assert alter(port, listening(port, added), broker=number).error_code == 0
    everywhere = [(1, "127.0.0.1", extra), (2, "127.0.0.1", others)]
    for port in (extra, others):
        wait_until(lambda port=port: told(port) == everywhere, "both are told on both")
    assert told(here) == [(1, "127.0.0.1", here), (2, "127.0.0.1", there)]
    broker.stop()
    broker.start()
    wait_until(lambda: told(extra) == everywhere, "what was set holds after a restart")
    broker.stop()
    with socket.create_server(("127.0.0.1", extra)):
        broker.start()
        assert f"cannot listen on EXTRA://127.0.0.1:{extra}: Address already" in broker.said()
        assert alter(here, {"log.retention.ms": "1000000"}).error_code == 0
        mend = broker.said().rpartition("have those of the file: brokerd ")[2].splitlines()[0]
        brokerd(*mend.split()).ok()
    assert told(here) == [(1, "127.0.0.1", here), (2, "127.0.0.1", there)]
    assert alter(here, listening(here, f"EXTRA://127.0.0.1:{extra}")).error_code == 0
    moved = f"EXTRA://localhost:{extra}"
    settings = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{here},{moved}"}
    assert alter(here, settings).error_code == 0
    wait_until(lambda: told(others)[0] == (1, "localhost", extra), "the other broker tells it")
    with Wire(extra) as held:
        held.ask(ApiKey.API_VERSIONS, 0, {})
        answer = alter(extra, dict.fromkeys(LISTENERS))
        assert answer.error_code == 0, "who removes his own listener is still answered"
        assert not is_open(extra)
        assert held.is_closed()
    wait_until(lambda: told(others) == [(2, "127.0.0.1", others)], "it is told no more")


def test_a_listener_with_tls_is_added_with_its_key(broker: Brokerd, tmp_path: Path) -> None:
    authority, store, port = Authority("live"), tmp_path / "broker.pem", free_port()
    issued = authority.issue("broker")
    store.write_text(issued.key + issued.chain)
    settings = listening(broker.port, f"TLS://127.0.0.1:{port}")
    without_key = alter(broker.port, settings)
    assert without_key.error_code == ErrorCode.INVALID_REQUEST
    assert "an SSL listener needs a key" in without_key.error_message
    settings |= {
        "listener.name.tls.ssl.keystore.type": "PEM",
        "listener.name.tls.ssl.keystore.location": str(store),
    }
    assert alter(broker.port, settings, tried=True).error_code == 0
    assert not is_open(port)
    assert alter(broker.port, settings).error_code == 0
    assert ssl.get_server_certificate(("127.0.0.1", port), timeout=10) == issued.chain
    client = AdminClient(
        {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "security.protocol": "ssl",
            "ssl.ca.pem": authority.certificate,
        }
    )
    wait_until(lambda: [each.port for each in client.list_topics(timeout=20).brokers.values()]
               == [port])  # fmt: skip


KEYSTORE = "listener.name.ssl.ssl.keystore."


class Secured:
    """A broker with an SSL listener and its store, whose file changes."""

    def __init__(self, store: Path) -> None:
        self.store, self.tls = store, free_port()
        self.plain = free_port()
        self._authority = Authority("renewed")
        self.renew()
        listeners = f"PLAINTEXT://127.0.0.1:{self.plain},SSL://127.0.0.1:{self.tls}"
        self.settings = {
            "listeners": listeners, "advertised.listeners": listeners,
            "ssl.keystore.type": "PEM", "ssl.keystore.location": str(store),
        }  # fmt: skip

    def renew(self) -> str:
        """Another certificate of the same name, as Kafka wants it."""
        issued = self._authority.issue("broker")
        self.store.write_text(issued.key + issued.chain)
        return issued.chain

    def served(self) -> str:
        return ssl.get_server_certificate(("127.0.0.1", self.tls), timeout=10)

    def steps(self) -> list[int]:
        """The codes of changes while the store is good, garbage, broken or gone."""
        own = {f"{KEYSTORE}type": "PEM", f"{KEYSTORE}location": str(self.store)}
        other = self.store.with_name("other.pem")
        found: list[int] = []

        def set_(settings: Settings, broker: str = "1") -> None:
            found.append(alter(self.plain, settings, broker=broker).error_code)

        before = self.served()
        self.store.write_text("garbage")
        set_(own)
        set_({"log.retention.ms": "1000000"})
        set_({"log.retention.ms": "1000001"}, broker="")
        set_(own | {f"{KEYSTORE}location": str(other)})
        other.write_text("garbage")
        set_(own | {f"{KEYSTORE}location": str(other)})
        assert self.served() == before
        for _ in range(2):
            renewed = self.renew()
            set_(own)
            wait_until(lambda told=renewed: self.served() == told, "the new one is served")
        for text in ("garbage", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"):
            self.store.write_text(text)
            set_(own)
            set_(dict.fromkeys(own))
        self.store.unlink()
        set_({"log.retention.ms": "1000002"})
        assert self.served() == renewed
        return found


SAME, OTHER = ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST
CODES = [SAME, SAME, 0, OTHER, OTHER, 0, 0, SAME, SAME, SAME, SAME, 0]


def test_a_store_that_cannot_be_read_is_refused_whether_or_not_its_path_changes(
    zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    secured, connect = Secured(tmp_path / "broker.pem"), zookeeper.connect("/stores")
    with BrokerdCluster.started(tmp_path, connect, settings=secured.settings):
        assert secured.steps() == CODES
        gone = alter(secured.plain, {f"{KEYSTORE}location": str(secured.store)})
    assert gone.error_code == ErrorCode.INVALID_CONFIG
    assert gone.error_message.startswith(f"{KEYSTORE}location: the store could not be loaded")


@pytest.mark.kafka
def test_apache_kafka_refuses_the_same_stores(zookeeper: ZooKeeper, tmp_path: Path) -> None:
    secured = Secured(tmp_path / "broker.pem")
    kafka = ApacheKafka(
        tmp_path, zookeeper.connect("/stores-of-kafka"), port=secured.plain,
        settings=secured.settings,
    )  # fmt: skip
    try:
        kafka.start()
        assert secured.steps() == CODES
    finally:
        kafka.kill()


def test_an_address_that_is_taken_is_refused_and_nothing_changes(
    cluster: BrokerdCluster, broker: Brokerd
) -> None:
    free = free_port()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        wanted = (f"EXTRA://127.0.0.1:{free}", f"TAKEN://127.0.0.1:{taken}")
        settings = listening(broker.port, *wanted)
        settings[LISTENERS[2]] = f"{PROTOCOLS},TAKEN:PLAINTEXT"
        answer = alter(broker.port, settings)
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_message == (
        f"cannot listen on TAKEN://127.0.0.1:{taken}: Address already in use"
    )
    assert not is_open(free)
    neighbour = cluster.brokers[1].port
    answer = alter(broker.port, listening(broker.port, f"EXTRA://127.0.0.1:{neighbour}"))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert "is already registered by broker 2" in answer.error_message
    assert (1, "127.0.0.1", broker.port) in told(broker.port)


def test_connections_of_one_listener_wait_above_its_limit(broker: Brokerd) -> None:
    extra = free_port()
    settings = listening(broker.port, f"EXTRA://127.0.0.1:{extra}")
    assert alter(broker.port, settings | {LIMIT: "1"}).error_code == 0
    with Wire(extra) as first, Wire(extra) as second, Wire(broker.port) as elsewhere:
        first.ask(ApiKey.API_VERSIONS, 0, {})
        second.request(ApiKey.API_VERSIONS, 0, {})
        assert second.hears_nothing(0.2)
        elsewhere.ask(ApiKey.API_VERSIONS, 0, {})
        assert alter(broker.port, {LIMIT: "2"}).error_code == 0
        assert second.answer(ApiKey.API_VERSIONS, 0).error_code == 0


def registered(zookeeper: KazooClient) -> tuple[list[str], dict[str, str]]:
    node = json.loads(zookeeper.get("/brokers/ids/1")[0])
    return node["endpoints"], node["listener_security_protocol_map"]


def described(port: int) -> dict[str, Any]:
    resource = {"resource_type": 4, "resource_name": "1",
                "configuration_keys": [*LISTENERS, LIMIT]}  # fmt: skip
    asked = {"resources": [resource], "include_synonyms": True, "include_documentation": False}
    with Wire(port) as wire:
        (result,) = wire.ask(ApiKey.DESCRIBE_CONFIGS, 4, asked).results
    return {
        each.name: (each.value, each.config_source, each.config_type, each.read_only,
                    [(one.name, one.value, one.source) for one in each.synonyms[:1]])
        for each in result.configs
    }  # fmt: skip


@pytest.mark.kafka
def test_apache_kafka_is_told_the_same_and_does_the_same(
    zookeeper: ZooKeeper, kafka_port: int, brokerd_port: int
) -> None:
    """Codes, registrations and what DescribeConfigs tells; ports by their numbers in the list."""
    seen = []
    for port, chroot in ((kafka_port, "/answers-of-kafka"), (brokerd_port, "/answers-of-brokerd")):
        extra = free_port()
        client = KazooClient(zookeeper.connect(chroot))
        client.start()
        try:
            found = _steps(port, extra, lambda client=client: registered(client))
        finally:
            client.stop()
            alter(port, dict.fromkeys((*LISTENERS, LIMIT)))
        text = json.dumps(found).replace(str(extra), "2").replace(str(port), "1")
        seen.append(json.loads(text))
    theirs, ours = seen
    assert ours == theirs


def _steps(port: int, extra: int, now: Callable[[], tuple[list[str], Any]]) -> list[Any]:
    first, added = f"PLAINTEXT://127.0.0.1:{port}", f"EXTRA://127.0.0.1:{extra}"
    found: list[Any] = [
        alter(port, settings, broker=number).error_code
        for settings, number in (
            ({"listeners": f"{first},{added}"}, "1"),
            ({"listeners": first}, ""),
            ({"listeners": "nowhere"}, "1"),
            ({"listeners": f"{first},EXTRA://127.0.0.1:{port}", LISTENERS[2]: PROTOCOLS}, "1"),
            (listening(port) | {"advertised.listeners": f"{first},{added}"}, "1"),
            ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "1"),
            ({LISTENERS[2]: "PLAINTEXT:PLAINTEXT,EXTRA:MORSE"}, "1"),
            ({LISTENERS[2]: "PLAINTEXT"}, "1"),
            ({LIMIT: "x"}, "1"), ({LIMIT: "3"}, "1"), ({LIMIT: "3"}, ""), ({LIMIT: None}, ""),
        )
    ]  # fmt: skip
    found.append(alter(port, listening(port, added)).error_code)
    wait_until(lambda: is_open(extra) and told(extra))
    found += [now(), described(port), told(extra), told(port)]
    with Wire(extra) as held:
        held.ask(ApiKey.API_VERSIONS, 0, {})
        for settings in (
            {"listeners": added, "advertised.listeners": added},
            {"advertised.listeners": added},
            {LISTENERS[2]: "PLAINTEXT:PLAINTEXT,EXTRA:SSL"},
            {LIMIT: "0"},
            listening(port),
        ):
            found.append(alter(port, settings).error_code)
        wait_until(lambda: len(now()[0]) == 1)
        found += [now(), held.is_closed(), is_open(extra)]
    return found
