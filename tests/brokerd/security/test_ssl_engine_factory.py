"""TLS contexts from PEM: what is accepted, and what is said of what is not."""

import os
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from brokerd.config.ssl_configs import TLS13_SUITES, SslConfigs, Store
from brokerd.security.ssl_engine_factory import (
    StoreError,
    TlsError,
    client_context,
    openssl_name,
    pem,
    problems_of,
    rsa_bits,
    server_context,
)
from tests.support.pki import Authority, Issued

NONE = Store()


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture(scope="module")
def issued(authority: Authority) -> Issued:
    return authority.issue("broker")


def inline(chain: str, key: str) -> Store:
    return Store(certificates=chain, key=key)


def meets(server: SslConfigs, authority: Authority) -> str:
    """A handshake in memory, with a client that trusts the authority; the version it came to."""
    trust = Store(certificates=authority.certificate)
    ours = client_context(SslConfigs(NONE, trust), check_hostname=True)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ours.wrap_bio(to_client, to_server, server_hostname="localhost")
    broker = server_context(server).wrap_bio(to_server, to_client, server_side=True)
    for side in (client, broker) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            pass
    version = broker.version()
    assert version is not None
    return version


def refused(store: Store, password: str | None = None) -> str:
    with pytest.raises(TlsError) as caught:
        server_context(SslConfigs(store, NONE, password))
    return str(caught.value)


def test_a_key_in_a_file_serves_and_one_in_the_properties_too(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    path = tmp_path / "keystore.pem"
    path.write_text(issued.chain + issued.key)
    assert meets(SslConfigs(Store(str(path)), NONE), authority) == "TLSv1.3"
    blanks = inline(issued.chain.replace("\n", " "), issued.key.replace("\n", ""))
    assert meets(SslConfigs(blanks, NONE), authority) == "TLSv1.3"


def test_an_encrypted_key_needs_its_password(authority: Authority, issued: Issued) -> None:
    store = inline(issued.chain, issued.encrypted_key("opens it"))
    assert meets(SslConfigs(store, NONE, "opens it"), authority) == "TLSv1.3"
    assert refused(store).startswith("ssl.key.password: it must be set")
    assert refused(store, "wrong").startswith("ssl.key.password does not open")


def test_what_is_wrong_with_a_key_store_is_said(
    authority: Authority, issued: Issued, tmp_path: Path
) -> None:
    other = authority.issue("another")
    assert "does not fit" in refused(inline(issued.chain, other.key))
    assert "no certificate" in refused(inline("nothing", issued.key))
    assert "no private key" in refused(inline(issued.chain, issued.chain))
    broken = issued.key[:60] + "AAAA" + issued.key[64:]
    assert "cannot use the key" in refused(inline(issued.chain, broken))
    missing = str(tmp_path / "missing.pem")
    assert refused(Store(missing)) == (
        f"ssl.keystore.location: cannot read {missing}: No such file or directory"
    )
    jks = tmp_path / "store.jks"
    jks.write_bytes(bytes.fromhex("feedfeed00000002"))
    assert "is not PEM" in refused(Store(str(jks)))


def test_a_store_that_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.pem"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        said = f"ssl.keystore.location: cannot read {path}: it is not a regular file"
        assert refused(Store(str(path))) == said


def test_an_rsa_key_that_takes_long_to_sign_with_is_refused(
    authority: Authority, issued: Issued
) -> None:
    for bits, words in ((16384, "its RSA key has 16384 bits"), (8192, "cannot use the key")):
        key = rsa.RSAPublicNumbers(65537, (1 << bits) - 1).public_key()
        assert words in refused(inline(authority.certify("broker", key), issued.key))


def test_what_clients_may_not_know_of_a_file_stands_in_the_text_alone(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.pem", tmp_path):
        with pytest.raises(StoreError) as caught:
            server_context(SslConfigs(Store(str(path), location_key="its.location"), NONE))
        assert caught.value.setting == "its.location"
    with pytest.raises(StoreError) as caught:
        server_context(SslConfigs(inline("", ""), NONE))
    assert caught.value.setting == "ssl.keystore.certificate.chain"


def test_a_trust_store_without_certificates_is_refused(issued: Issued) -> None:
    key = inline(issued.chain, issued.key)
    trust = Store(certificates="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
    for each in (trust, Store(certificates="nothing")):
        with pytest.raises(TlsError, match=r"ssl\.truststore\.certificates"):
            server_context(SslConfigs(key, each, client_auth="required"))
        with pytest.raises(TlsError, match=r"ssl\.truststore\.certificates"):
            server_context(SslConfigs(key, each))
    private = Store(certificates=issued.key)
    assert "no usable certificates" in problems_of([SslConfigs(key, private)])[0]


def test_versions_and_cipher_suites_are_held_to_what_is_set(
    authority: Authority, issued: Issued
) -> None:
    key = inline(issued.chain, issued.key)
    older = SslConfigs(key, NONE, protocols=("TLSv1.2",))
    assert meets(older, authority) == "TLSv1.2"
    suite = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    assert meets(SslConfigs(key, NONE, cipher_suites=(suite,)), authority) == "TLSv1.2"
    both = (suite, *TLS13_SUITES)
    assert meets(SslConfigs(key, NONE, cipher_suites=both), authority) == "TLSv1.3"
    for wrong in (("TLS_AES_128_GCM_SHA256",), ("TLS_NO_SUCH_SUITE",)):
        with pytest.raises(TlsError, match=r"ssl\.cipher\.suites"):
            server_context(SslConfigs(key, NONE, cipher_suites=wrong))


def test_iana_names_of_cipher_suites_become_those_of_openssl() -> None:
    names = {
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
        "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256": "DHE-RSA-AES128-SHA256",
        "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
        "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8": "ECDHE-ECDSA-AES128-CCM8",
    }
    assert {suite: openssl_name(suite) for suite in names} == names


def test_pem_that_lost_its_lines_gets_them_back(issued: Issued) -> None:
    assert pem(issued.chain.replace("\n", " ")) == issued.chain
    assert pem(f"words before\n{issued.chain}") == issued.chain


def test_pem_that_ends_too_early_takes_nothing_from_what_follows(issued: Issued) -> None:
    begun = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----\n"
    assert pem(begun + issued.chain + "-----BEGIN X-----") == issued.chain


def test_a_file_full_of_beginnings_is_read_in_one_pass() -> None:
    assert pem("-----BEGIN A-----" * 60_000) == ""


def der(chain: str) -> bytes:
    return ssl.PEM_cert_to_DER_cert(chain)


def certificate(bits: int) -> bytes:
    """Of a key that nobody has: a modulus needs no factors to be signed for."""
    key = rsa.RSAPublicNumbers(65537, (1 << bits) - 1).public_key()
    return der(Authority("ours").certify("broker", key))


@pytest.mark.parametrize("bits", [2048, 8192, 16384])
def test_the_bits_of_the_modulus_are_told(bits: int) -> None:
    assert rsa_bits(certificate(bits)) == bits


def test_keys_of_other_kinds_have_none() -> None:
    assert rsa_bits(der(Authority("ours").issue("broker").chain)) == 0


def test_what_is_no_certificate_is_refused_wherever_it_ends() -> None:
    whole = certificate(2048)
    assert rsa_bits(whole) == 2048
    for size in range(len(whole)):
        with pytest.raises(ValueError, match="end"):
            rsa_bits(whole[:size])
    for noise in (b"\x30\xff", b"\x30\x84\xff\xff\xff\xff", bytes(50), b"\x30\x00"):
        with pytest.raises(ValueError, match=r"end|unpack"):
            rsa_bits(noise)
