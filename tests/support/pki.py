"""Certificates for tests: an authority of their own, and what it signs, all in PEM.

authority = Authority("tests")
broker = authority.issue("broker")
path.write_text(broker.key + broker.chain)
"""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.oid import NameOID

_VALID = datetime.timedelta(days=2)


class Issued:
    """A private key (PKCS #8) and its certificate."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self.chain = certificate.public_bytes(serialization.Encoding.PEM).decode()
        self.key = self._pem(serialization.NoEncryption())

    def encrypted_key(self, password: str) -> str:
        return self._pem(serialization.BestAvailableEncryption(password.encode()))

    def _pem(self, encryption: serialization.KeySerializationEncryption) -> str:
        kind = serialization.PrivateFormat.PKCS8
        return self._key.private_bytes(serialization.Encoding.PEM, kind, encryption).decode()


class Authority:
    """Signs certificates for 127.0.0.1 and localhost."""

    def __init__(self, name: str) -> None:
        self._name = _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        basic = x509.BasicConstraints(ca=True, path_length=None)
        own = self._signed(self._name, self._key.public_key(), basic)
        self.certificate = Issued(self._key, own).chain

    def issue(self, name: str) -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        basic = x509.BasicConstraints(ca=False, path_length=None)
        return Issued(key, self._signed(_name(name), key.public_key(), basic))

    def certify(self, name: str, key: RSAPublicKey) -> str:
        """The certificate of a key that somebody else has."""
        basic = x509.BasicConstraints(ca=False, path_length=None)
        signed = self._signed(_name(name), key, basic)
        return signed.public_bytes(serialization.Encoding.PEM).decode()

    def _signed(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePublicKey | RSAPublicKey,
        basic: x509.BasicConstraints,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        addresses = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _VALID)
            .not_valid_after(now + _VALID)
            .add_extension(basic, critical=True)
            .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
