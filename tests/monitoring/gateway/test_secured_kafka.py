"""Clusters that require TLS or a login, on a real Apache Kafka; and what the console says if the
connection fails."""

from types import SimpleNamespace

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from console.clusters.connection_error_texts import explain
from monitoring.clock import now_ms
from monitoring.gateway import event_loop
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.wire.cluster_client import ClusterClient
from monitoring.models import Cluster
from monitoring.sampling.sample_reader import SampleReader
from tests.support.kafka import ApacheKafka
from tests.support.pki import Authority
from tests.support.ports import free_port
from tests.support.token_endpoint import CLIENT_ID, CLIENT_SECRET, token_endpoint

pytestmark = [pytest.mark.kafka, pytest.mark.django_db]
USER, PASSWORD, TOPIC = "ann", "pass,word=1", "orders"
_MODULES = "org.apache.kafka.common.security"
_JAAS = {
    "plain": f'{_MODULES}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
    "scram-sha-256": f"{_MODULES}.scram.ScramLoginModule required;",
    "scram-sha-512": f"{_MODULES}.scram.ScramLoginModule required;",
    "oauthbearer": f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker";',
}


@pytest.fixture(scope="module")
def pki():
    authority = Authority("brokers")
    return SimpleNamespace(
        ca=authority.certificate,
        another_ca=Authority("somebody").certificate,
        broker=authority.issue("broker"),
        client=authority.issue("aerie"),
    )


@pytest.fixture(scope="module")
def ports():
    return {name: free_port() for name in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")}


@pytest.fixture(scope="module")
def kafka(zookeeper, pki, ports, tmp_path_factory):
    """A broker with one listener per security protocol; SSL requires client certificates."""
    directory = tmp_path_factory.mktemp("secured-kafka")
    (directory / "broker.pem").write_text(pki.broker.key + pki.broker.chain)
    (directory / "ca.pem").write_text(pki.ca)
    listeners = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
    settings = {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(directory / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(directory / "ca.pem"),
        "listener.name.ssl.ssl.client.auth": "required",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_plaintext.scram-sha-512.connections.max.reauth.ms": "1000",
        **{
            f"listener.name.{listener}.{mechanism}.sasl.jaas.config": config
            for listener in ("sasl_plaintext", "sasl_ssl")
            for mechanism, config in _JAAS.items()
        },
    }
    broker = ApacheKafka(
        directory, zookeeper.connect("/secured"), port=ports["PLAINTEXT"], settings=settings
    )
    broker.start()
    try:
        client = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            info = ScramCredentialInfo(mechanism, 4096)
            upsertion = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
            client.alter_user_scram_credentials([upsertion])[USER].result(30)
        producer = Producer({"bootstrap.servers": broker.address, "log_level": 0})
        producer.produce(TOPIC, b"one")
        assert producer.flush(30) == 0
        yield broker
    finally:
        broker.kill()


@pytest.fixture(scope="module")
def endpoint():
    with token_endpoint() as found:
        yield found


@pytest.fixture
def cluster(kafka, pki, ports, endpoint, settings, tmp_path):
    """cluster(protocol, mechanism, **columns): a row that connects, with the given differences."""
    settings.AERIE_SECRET_KEY_FILE = tmp_path / "secret.key"
    settings.AERIE_EGRESS_ALLOW = ["127.0.0.1"]

    def make(protocol: str, mechanism: str = "", **columns) -> Cluster:
        is_oauth = mechanism == "OAUTHBEARER"
        row = Cluster(
            slug="secured",
            bootstrap_servers=f"127.0.0.1:{ports[protocol]}",
            security_protocol=protocol,
            ca_pem=pki.ca,
            certificate_pem=pki.client.chain if protocol == "SSL" else "",
            sasl_mechanism=mechanism,
            sasl_username=CLIENT_ID if is_oauth else USER,
            token_url=endpoint[0] if is_oauth else "",
        )
        row.set_secret("sasl_password", CLIENT_SECRET if is_oauth else PASSWORD)
        row.set_secret("private_key", pki.client.encrypted_key("k3y"))
        row.set_secret("private_key_password", "k3y")
        for name, value in columns.items():
            setattr(row, name, value)
        return row

    return make


LOGINS = [("PLAINTEXT", ""), ("SSL", "")] + [
    (protocol, mechanism)
    for protocol in ("SASL_PLAINTEXT", "SASL_SSL")
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
]


@pytest.mark.parametrize(("protocol", "mechanism"), LOGINS)
def test_both_clients_connect_with_each_protocol_and_mechanism(cluster, protocol, mechanism):
    with for_cluster(cluster(protocol, mechanism)) as gateway:
        assert TOPIC in gateway.wire.metadata().topics
        assert gateway.topics.describe_topic(TOPIC).partitions
        assert [row.value for row in gateway.record_pages.read(TOPIC, 0, 0, 5).rows] == [b"one"]


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_the_controller_is_asked_over_tls_and_with_a_login(cluster, protocol):
    mechanism = "SCRAM-SHA-256" if protocol == "SASL_SSL" else ""
    with for_cluster(cluster(protocol, mechanism)) as gateway:
        gateway.reassignments.check_supported()
        assert gateway.reassignments.in_progress() == []
        assert gateway.reassignments.sizes([(TOPIC, 0)]).sizes[TOPIC, 0][1] > 0
        assert gateway.quotas.describe() == []


def test_a_reader_logs_in_again_when_its_session_ends(cluster):
    settings = cluster("SASL_PLAINTEXT", "SCRAM-SHA-512").kafka_client_settings()

    async def read_twice():
        client = ClusterClient(settings)
        reader = SampleReader(client, None, now_ms)
        try:
            await reader.read(10)
            [channel] = client._channels.values()
            first = channel._connection
            channel._session_end_s = 0.0
            answers = await reader.read(10)
            return first, channel._connection, answers
        finally:
            await reader.close()

    first, second, answers = event_loop.run(read_twice(), 60)
    assert second is not first
    assert TOPIC in answers.metadata.topics


def test_a_token_is_requested_once_and_used_again(cluster, endpoint):
    row = cluster("SASL_PLAINTEXT", "OAUTHBEARER", token_scope="kafka another")
    for _ in range(3):
        with for_cluster(row) as gateway:
            gateway.wire.metadata()
            gateway.topics.describe_topic(TOPIC)
    assert endpoint[1].count("grant_type=client_credentials&scope=kafka+another") == 1


FAILURES = {
    "host name": ("PLAINTEXT", "", {"bootstrap_servers": "no-such-host.invalid:9092"}),
    "port": ("PLAINTEXT", "", {"bootstrap_servers": "127.0.0.1:1"}),
    "TLS port without TLS": ("SSL", "", {"security_protocol": "PLAINTEXT"}),
    "TLS at a plain port": ("PLAINTEXT", "", {"security_protocol": "SSL", "certificate_pem": ""}),
    "no client certificate": ("SSL", "", {"certificate_pem": "", "private_key": ""}),
    "login required": ("SASL_PLAINTEXT", "", {"security_protocol": "PLAINTEXT"}),
    "mechanism": ("SASL_PLAINTEXT", "GSSAPI", {}),
    "password": ("SASL_SSL", "SCRAM-SHA-256", {"sasl_username": "bob"}),
    "password of PLAIN": ("SASL_SSL", "PLAIN", {"sasl_username": "bob"}),
    "client secret": ("SASL_SSL", "OAUTHBEARER", {"sasl_username": "bob"}),
    "token endpoint": ("SASL_SSL", "OAUTHBEARER", {"token_url": "http://127.0.0.1:1/"}),
}
TITLES = {
    "host name": "The host name does not resolve",
    "port": "No broker answers",
    "TLS port without TLS": "The broker closed the connection",
    "TLS at a plain port": "The port does not speak TLS",
    "no client certificate": "The broker closed the connection",
    "login required": "The broker closed the connection",
    "mechanism": "The broker does not offer this SASL mechanism",
    "password": "The broker refuses the login",
    "password of PLAIN": "The broker refuses the login",
    "client secret": "The token endpoint refuses the login",
    "token endpoint": "The token endpoint does not answer",
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failed_connection_says_what_is_wrong(cluster, case):
    protocol, mechanism, columns = FAILURES[case]
    assert failure(cluster(protocol, mechanism, **columns)).title == TITLES[case]


def test_a_certificate_of_another_authority_is_refused(cluster, pki):
    result = failure(cluster("SASL_SSL", "PLAIN", ca_pem=pki.another_ca))
    assert result.title == "The broker’s certificate is not accepted"
    assert "CA certificates" in result.text


def failure(row: Cluster):
    with for_cluster(row) as gateway, pytest.raises(GatewayError) as caught:
        gateway.wire.metadata()
    return explain(caught.value, row)
