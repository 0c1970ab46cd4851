"""How large the RSA key of a certificate is."""

import ssl

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from brokerd.security.rsa_size import rsa_bits
from tests.support.pki import Authority


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
