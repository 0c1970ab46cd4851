"""Settings of SSL listeners: which are told, which contradict, and that each mistake is named."""

import pytest

from brokerd.config.broker_config import ConfigError, parse
from brokerd.config.ssl_configs import is_tls_key, ssl_configs

BASE = """broker.id=1
zookeeper.connect=127.0.0.1:2181
log.dirs=/a
listeners=SSL://127.0.0.1:9093,INNER://127.0.0.1:9094
listener.security.protocol.map=SSL:SSL,INNER:SSL
"""
KEYSTORE = "ssl.keystore.type=PEM\nssl.keystore.location=/k.pem\n"


def said(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(BASE + text)
    return str(caught.value)


def test_a_listener_s_own_setting_goes_before_that_of_all() -> None:
    config = parse(
        BASE + KEYSTORE + "ssl.truststore.type=PEM\nssl.truststore.location=/t.pem\n"
        "listener.name.inner.ssl.client.auth=required\n"
        "listener.name.inner.ssl.keystore.location=/inner.pem\n"
    )
    assert config.tls["SSL"].client_auth == "none"
    assert config.tls["INNER"].client_auth == "required"
    assert config.tls["SSL"].keystore.location == "/k.pem"
    assert config.tls["INNER"].keystore.location == "/inner.pem"
    assert config.tls["SSL"].protocols == ("TLSv1.2", "TLSv1.3")
    assert config.warnings == ()


def test_plaintext_listeners_need_nothing_of_it() -> None:
    plain = BASE.replace("SSL:SSL,INNER:SSL", "SSL:PLAINTEXT,INNER:PLAINTEXT")
    assert parse(plain).tls == {}


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("", "ssl.keystore.location: an SSL listener needs a key"),
        ("ssl.keystore.location=/k.jks", "ssl.keystore.type: JKS is a store of Java's own"),
        ("ssl.keystore.type=PKCS12\nssl.keystore.location=/k", "PKCS12 is a store of Java's own"),
        (KEYSTORE + "ssl.keystore.password=x", "ssl.keystore.password: a PEM store has none"),
        (KEYSTORE + "ssl.keystore.key=x", "ssl.keystore.location: it excludes"),
        ("ssl.keystore.type=PEM\nssl.keystore.key=x", "ssl.keystore.certificate.chain: it must"),
        ("ssl.keystore.type=PEM\nssl.keystore.certificate.chain=x", "ssl.keystore.key: it must"),
        (KEYSTORE + "ssl.client.auth=maybe", "ssl.client.auth: 'maybe' is not one of"),
        (KEYSTORE + "ssl.client.auth=required", "ssl.client.auth: required needs ssl.truststore"),
        (KEYSTORE + "ssl.truststore.location=/t.jks", "ssl.truststore.type: JKS"),
        (KEYSTORE + "ssl.enabled.protocols=SSLv3", "ssl.enabled.protocols: 'SSLv3'"),
        (
            KEYSTORE + "listener.name.inner.ssl.client.auth=maybe",
            "listener.name.inner.ssl.client.auth: 'maybe'",
        ),
    ],
)
def test_a_mistake_is_named_once_with_the_setting_and_what_to_do(lines: str, text: str) -> None:
    assert said(lines).count(text) == 1


def test_a_setting_of_tls_is_known_under_every_prefix() -> None:
    assert is_tls_key("listener.name.inner.ssl.client.auth")
    assert not is_tls_key("listener.name.inner.max.connections")


def test_a_client_needs_no_key() -> None:
    problems: list[str] = []
    settings = ssl_configs({"ssl.truststore.type": "PEM"}, "", problems, needs_key=False)
    assert problems == []
    assert settings.keystore.location == ""


def test_a_store_of_java_is_named_together_with_a_wrong_address() -> None:
    wrong = "advertised.listeners=NOWHERE://a:1"
    told = said(f"ssl.keystore.location=/k.jks\n{wrong}\nnum.partitions=x\n")
    for part in (wrong.partition("=")[0] + ":", "num.partitions:", "ssl.keystore.type: JKS"):
        assert part in told
