"""SSL listeners: real clients over TLS, with and without certificates of their own."""

import shutil
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from brokerd.errors import ErrorCode
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import encode_request
from tests.support.brokerd import ROOT, Brokerd, BrokerdCluster
from tests.support.kafka_tools import kafka
from tests.support.pki import Authority, Issued
from tests.support.ports import free_port
from tests.support.wire import Wire
from tests.support.zookeeper import ZooKeeper

TIMEOUT_S = 20
RECORDS, RECORD_BYTES = 300, 10_000
Names = Callable[[str], str]


class Secured(NamedTuple):
    """A broker with a plaintext listener, one with SSL, and one that wants certificates."""

    broker: Brokerd
    ssl_port: int
    mutual_port: int
    authority: Authority
    client: Issued
    stranger: Issued
    directory: Path

    def trusting(self, port: int, **more: str) -> dict[str, str]:
        """librdkafka's settings."""
        return {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "security.protocol": "ssl",
            "ssl.ca.pem": self.authority.certificate,
            "log_level": "0",
            **more,
        }


@pytest.fixture(scope="module")
def secured(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("tls")
    authority, other = Authority("ours"), Authority("not ours")
    issued = authority.issue("broker")
    keystore = directory / "broker.pem"
    keystore.write_text(issued.encrypted_key("opens it") + issued.chain)
    truststore = directory / "ca.pem"
    truststore.write_text(authority.certificate)
    ports = [free_port() for _ in range(3)]
    names = ("PLAINTEXT", "SSL", "MUTUAL")
    pairs = [f"{name}://127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)]
    settings = {
        "listeners": ",".join(pairs),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,MUTUAL:SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "ssl.key.password": "opens it",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.truststore.type": "PEM",
        "listener.name.mutual.ssl.truststore.location": str(truststore),
    }
    connect = zookeeper.connect("/tls")
    with BrokerdCluster.started(directory, connect, settings=settings) as cluster:
        broker = cluster.brokers[0]
        broker.port = ports[0]
        client, stranger = authority.issue("client"), other.issue("client")
        yield Secured(broker, ports[1], ports[2], authority, client, stranger, directory)


def write_and_read(settings: dict[str, str], topic: str) -> None:
    """Enough records that ranges of files are sent, which are read for TLS, piece by piece."""
    producer = Producer(settings)
    sent = [bytes([number % 251]) * RECORD_BYTES for number in range(RECORDS)]
    for value in sent:
        producer.produce(topic, value, partition=0)
    assert producer.flush(TIMEOUT_S) == 0
    consumer = Consumer(settings | {"group.id": "none", "auto.offset.reset": "earliest"})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[Any] = []
        while len(found) < RECORDS:
            batch = consumer.consume(RECORDS, TIMEOUT_S)
            assert batch, f"only {len(found)} records came"
            found += [each.value() for each in batch]
        assert found == sent
    finally:
        consumer.close()


def said_once(broker: Brokerd, text: str, before: int) -> None:
    """One line more of the broker holds the text than before."""
    assert broker.said().count(text) == before + 1


def test_librdkafka_reads_over_tls_what_it_wrote(secured: Secured, new_name: Names) -> None:
    write_and_read(secured.trusting(secured.ssl_port), new_name("tls"))


def test_a_client_is_led_on_to_the_listener_that_it_asked(secured: Secured) -> None:
    """What Metadata tells over TLS are addresses of TLS."""
    listed = AdminClient(secured.trusting(secured.ssl_port)).list_topics(timeout=TIMEOUT_S)
    assert [each.port for each in listed.brokers.values()] == [secured.ssl_port]


def test_a_client_with_a_certificate_is_let_in_where_one_is_required(
    secured: Secured, new_name: Names
) -> None:
    pair = {"ssl.certificate.pem": secured.client.chain, "ssl.key.pem": secured.client.key}
    write_and_read(secured.trusting(secured.mutual_port, **pair), new_name("mutual"))


def test_a_client_with_no_certificate_or_that_of_a_stranger_is_refused(secured: Secured) -> None:
    stranger = {"ssl.certificate.pem": secured.stranger.chain, "ssl.key.pem": secured.stranger.key}
    for pair, reason in (({}, "it sent no certificate"), (stranger, "is not accepted")):
        client = AdminClient(secured.trusting(secured.mutual_port, **pair))
        with pytest.raises(KafkaException):
            client.list_topics(timeout=2)
        assert reason in secured.broker.said()


def test_a_client_that_does_not_know_the_authority_ends_the_handshake_itself(
    secured: Secured,
) -> None:
    context = ssl.create_default_context()
    with socket.create_connection(("127.0.0.1", secured.ssl_port), TIMEOUT_S) as client:
        with pytest.raises(ssl.SSLCertVerificationError):
            context.wrap_socket(client, server_hostname="127.0.0.1")


def test_a_plaintext_client_on_an_ssl_port_is_closed_with_one_line(secured: Secured) -> None:
    text = "closing 127.0.0.1 on SSL: it does not speak TLS"
    before = secured.broker.said().count(text)
    with Wire(secured.ssl_port) as wire:
        wire.request(ApiKey.API_VERSIONS, 3, {})
        assert wire.is_closed()
    said_once(secured.broker, text, before)


def test_a_tls_client_on_a_plaintext_port_is_closed_with_one_line(secured: Secured) -> None:
    text = "closing 127.0.0.1 on PLAINTEXT: it speaks TLS"
    before = secured.broker.said().count(text)
    with socket.create_connection(("127.0.0.1", secured.broker.port), TIMEOUT_S) as client:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ssl.create_default_context().wrap_socket(client, server_hostname="127.0.0.1")
    said_once(secured.broker, text, before)


def test_half_a_handshake_and_garbage_in_tls_end_their_own_connection_only(
    secured: Secured,
) -> None:
    for data in (b"\x16\x03\x01", b"\x16\x03\x01\x00\x05aaaaa", b"\x16" * 20_000):
        with socket.create_connection(("127.0.0.1", secured.ssl_port), TIMEOUT_S) as client:
            client.sendall(data)
    with wrapped(secured) as client:
        client.sendall(b"\xff" * 64)  # a frame of a negative size
        assert client.recv(1) == b""
    with wrapped(secured) as client:
        client.setblocking(True)
        client.unwrap().close()  # TLS ended in order
    assert "Traceback" not in secured.broker.said()


def test_who_stops_sending_is_answered_what_he_asked_before(
    secured: Secured, new_name: Names
) -> None:
    topic = new_name("half")
    with Wire(secured.broker.port) as wire:
        wire.ask(ApiKey.METADATA, 4, {"topics": [{"name": topic}]})
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1000}
    fields = {"replica_id": -1, "max_wait": 300, "min_bytes": 1, "max_bytes": 1000,
              "topics": [{"topic": topic, "partitions": [partition]}]}  # fmt: skip
    with wrapped(secured) as client:
        client.sendall(encode_request(ApiKey.FETCH, 4, fields, 7, None))
        client.sendall(encode_request(ApiKey.METADATA, 1, {"topics": []}, 8, None))
        socket.socket.shutdown(client, socket.SHUT_WR)  # the connection; TLS knows nothing of it
        data = b""
        with suppress(ssl.SSLError):
            while piece := client.recv(1 << 16):
                data += piece
    (size,) = struct.unpack_from(">i", data)
    assert struct.unpack_from(">i", data, 4) == (7,)
    assert struct.unpack_from(">i", data, 4 + size + 4) == (8,)


def wrapped(secured: Secured) -> ssl.SSLSocket:
    context = ssl.create_default_context(cadata=secured.authority.certificate)
    client = socket.create_connection(("127.0.0.1", secured.ssl_port), TIMEOUT_S)
    return context.wrap_socket(client, server_hostname="127.0.0.1")


def properties(secured: Secured, name: str, issued: Issued | None = None) -> str:
    """A file for --command-config."""
    lines = ["security.protocol=SSL", "ssl.truststore.type=PEM"]
    lines += [f"ssl.truststore.location={secured.directory / 'ca.pem'}"]
    if issued is not None:
        keystore = secured.directory / f"{name}.pem"
        keystore.write_text(issued.key + issued.chain)
        lines += ["ssl.keystore.type=PEM", f"ssl.keystore.location={keystore}"]
    path = secured.directory / f"{name}.properties"
    path.write_text("\n".join(lines))
    return str(path)


def tool(*arguments: str, lines: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "brokerd", *arguments]
    return subprocess.run(command, input=lines, capture_output=True, timeout=60, cwd=ROOT)


def test_the_tools_of_brokerd_go_over_tls_with_a_command_config(
    secured: Secured, new_name: Names
) -> None:
    topic = new_name("tools")
    server = f"127.0.0.1:{secured.mutual_port}"
    config = properties(secured, "tools", secured.client)
    made = tool(
        "topics", "--bootstrap-server", server, "--command-config", config, "--create",
        "--topic", topic,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr.decode()
    sent = tool(
        "console-producer", "--bootstrap-server", server, "--producer.config", config,
        "--topic", topic, lines=b"one\ntwo\n",
    )  # fmt: skip
    assert sent.returncode == 0, sent.stderr.decode()
    read = tool(
        "console-consumer", "--bootstrap-server", server, "--consumer.config", config,
        "--topic", topic, "--from-beginning", "--max-messages", "2",
    )  # fmt: skip
    assert read.stdout == b"one\ntwo\n", read.stderr.decode()


def test_a_tool_without_the_right_certificates_says_so_at_once(secured: Secured) -> None:
    impatient = secured.directory / "impatient.properties"
    impatient.write_text("default.api.timeout.ms=1000")
    for port, config, text in (
        (secured.ssl_port, str(impatient), "closed the connection"),
        (secured.mutual_port, properties(secured, "bare"), "certificate"),
        (secured.broker.port, properties(secured, "bare"), "TLS"),
    ):
        server = f"127.0.0.1:{port}"
        done = tool("topics", "--bootstrap-server", server, "--command-config", config, "--list")
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == 1
        assert len(said.splitlines()) == 1, said
        assert text in said, said


def test_kcat_reads_over_tls(secured: Secured, new_name: Names) -> None:
    kcat = shutil.which("kcat")
    if kcat is None:
        pytest.skip("kcat is not here")
    command = [
        kcat, "-b", f"127.0.0.1:{secured.ssl_port}", "-X", "security.protocol=ssl",
        "-X", f"ssl.ca.location={secured.directory / 'ca.pem'}", "-t", new_name("kcat"), "-p", "0",
    ]  # fmt: skip
    subprocess.run([*command, "-P"], input=b"a\nb\n", check=True, timeout=60)
    done = subprocess.run([*command, "-C", "-e", "-q"], capture_output=True, timeout=60)
    assert done.stdout == b"a\nb\n"


@pytest.mark.kafka
def test_kafkas_own_tools_make_and_describe_a_topic_over_tls(
    secured: Secured, new_name: Names
) -> None:
    topic = new_name("java")
    said = kafka(
        "topics", "--bootstrap-server", f"127.0.0.1:{secured.mutual_port}", "--command-config",
        properties(secured, "java", secured.client), "--create", "--topic", topic,
    )  # fmt: skip
    assert said.out == f"Created topic {topic}.\n", said.err


def shown(port: int) -> str:
    """The certificate of whoever listens there."""
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=TIMEOUT_S)


def set_store(broker: Brokerd, **texts: str | None) -> int:
    """Sets (or, with None, drops) settings of the listener SSL; the error code."""
    prefix = "listener.name.ssl.ssl.keystore."
    rows = [
        {"name": prefix + key, "config_operation": int(text is None), "value": text}
        for key, text in texts.items()
    ]
    resource = {"resource_type": 4, "resource_name": "1", "configs": rows}
    with Wire(broker.port) as wire:
        answer = wire.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource]})
    return int(answer.responses[0].error_code)


def test_a_running_broker_takes_another_certificate(secured: Secured) -> None:
    broker, port = secured.broker, secured.ssl_port
    before = shown(port)
    store = secured.directory / "renewed.pem"
    first, second = secured.authority.issue("broker"), secured.authority.issue("broker")
    store.write_text(first.key + first.chain)
    assert set_store(broker, location=str(store), type="PEM") == 0
    assert shown(port) == first.chain
    store.write_text(second.key + second.chain)
    assert shown(port) == first.chain, "a file is opened when somebody says so"
    assert set_store(broker, location=str(store)) == 0
    assert shown(port) == second.chain
    for bad in (str(secured.directory / "nowhere.pem"), str(secured.directory / "ca.pem")):
        assert set_store(broker, location=bad) == ErrorCode.INVALID_REQUEST
    assert set_store(broker, type="JKS") == ErrorCode.INVALID_REQUEST
    assert shown(port) == second.chain
    assert set_store(broker, location=None, type=None) == 0
    assert shown(port) == before
