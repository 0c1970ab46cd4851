"""Builds the TLS contexts of listeners and of the tools, from PEM (Kafka's SslEngineFactory).

OpenSSL takes a key only from a file, so PEM that came as text goes through an anonymous file in
memory. What OpenSSL says of a bad key or certificate is put into words that name the setting. A
running broker makes its contexts in a thread: files are read.
"""

import os
import re
import ssl
from binascii import a2b_base64
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from brokerd.config.ssl_configs import TLS13_SUITES, SslConfigs, Store
from brokerd.security.read_regular_file import read_regular_file

_MARK = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----")
_VERIFY = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}

RSA_BITS_MAX = 8192
"""Signing takes eight times as long with twice the bits, and a broker signs on its event loop: with
a key of 16,384 bits each handshake would hold up everybody."""
_OF_RSA = bytes.fromhex("2a864886f70d0101")
"""How the names of RSA's algorithms begin (PKCS #1)."""
_SPKI = 5
"""Where the public key stands in a certificate, behind its serial number, the algorithm of its
signature, its issuer, its time and its subject."""
_VERSION = 0xA0
Field = tuple[int, bytes]


class TlsError(Exception):
    """A key, certificate or cipher cannot be used; the message is for users."""

    listener = ""
    """The listener that it is about, where that is known."""


class StoreError(TlsError):
    """A key or trust store cannot be used. `setting` names it. The message says of a file what its
    owner may know, but not a client that named it."""

    def __init__(self, text: str, setting: str) -> None:
        super().__init__(text)
        self.setting = setting


class StoreGoneError(StoreError):
    """The file of a store does not exist."""


def server_context(settings: SslConfigs) -> ssl.SSLContext:
    """The context of a listener. Raises TlsError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    _limit_versions(context, settings)
    load_key(context, settings.keystore, settings.key_password)
    context.verify_mode = _VERIFY[settings.client_auth]
    trust = settings.truststore
    if settings.client_auth != "none" or trust.location or trust.certificates:
        load_trust(context, trust)  # a store that nobody asks is opened all the same, as in Kafka
    return context


def problems_of(listeners: Iterable[SslConfigs]) -> list[str]:
    """What is wrong with the stores of listeners, or with their ciphers: a sentence for each."""
    found: dict[str, None] = {}
    for settings in listeners:
        try:
            server_context(settings)
        except TlsError as error:
            found[str(error)] = None
    return list(found)


def client_context(settings: SslConfigs, *, check_hostname: bool) -> ssl.SSLContext:
    """The context of a tool; without a trust store the system's is used. Raises TlsError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = check_hostname
    _limit_versions(context, settings)
    if settings.keystore.location or settings.keystore.key:
        load_key(context, settings.keystore, settings.key_password)
    if settings.truststore.location or settings.truststore.certificates:
        load_trust(context, settings.truststore)
    else:
        context.load_default_certs()
    return context


def _limit_versions(context: ssl.SSLContext, settings: SslConfigs) -> None:
    versions = {_VERSIONS[each] for each in settings.protocols}
    suites = set(settings.cipher_suites)
    if suites:
        versions &= _versions_of(suites)
        if not versions:
            raise TlsError("ssl.cipher.suites: none of them is of ssl.enabled.protocols")
        older = suites - TLS13_SUITES
        if older:
            _set_ciphers(context, older)
    context.minimum_version = min(versions)
    context.maximum_version = max(versions)


def _versions_of(suites: set[str]) -> set[ssl.TLSVersion]:
    newer = suites & TLS13_SUITES
    if newer and newer != TLS13_SUITES:
        raise TlsError(
            "ssl.cipher.suites: those of TLSv1.3 cannot be chosen singly; name all of"
            f" {', '.join(sorted(TLS13_SUITES))}, or none"
        )
    versions = {ssl.TLSVersion.TLSv1_3} if newer else set()
    return versions | ({ssl.TLSVersion.TLSv1_2} if suites - newer else set())


def _set_ciphers(context: ssl.SSLContext, suites: set[str]) -> None:
    names = {suite: openssl_name(suite) for suite in suites}
    for suite, name in sorted(names.items()):
        try:
            context.set_ciphers(name)
        except ssl.SSLError:
            raise TlsError(f"ssl.cipher.suites: {suite} is not known to {_OPENSSL}") from None
    context.set_ciphers(":".join(sorted(names.values())))


_OPENSSL = " ".join(ssl.OPENSSL_VERSION.split()[:2])


def openssl_name(suite: str) -> str:
    """OpenSSL's name of a cipher suite of TLS 1.2, from its IANA name."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = re.sub(r"AES_(128|256)", r"AES\1", cipher).replace("_CBC", "")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    cipher = cipher.replace("_CCM_8", "_CCM8")
    return (cipher if exchange == "RSA" else f"{exchange}-{cipher}").replace("_", "-")


def load_key(context: ssl.SSLContext, store: Store, password: str | None) -> None:
    """Loads private key and certificate chain into the context. Raises StoreError."""
    if store.location:
        name = chain_name = store.location_key
        chain = key = _read(store, name)
        where = chain_where = f"{name}: {store.location}"
    else:
        name = where = "ssl.keystore.key"
        chain_name = chain_where = "ssl.keystore.certificate.chain"
        chain, key = pem(store.certificates), pem(store.key)
    if "-----BEGIN CERTIFICATE-----" not in chain:
        raise StoreError(f"{chain_where} holds no certificate in PEM", chain_name)
    if "PRIVATE KEY-----" not in key:
        raise StoreError(f"{where} holds no private key in PEM", name)
    if "ENCRYPTED" in key and password is None:
        needed = f"ssl.key.password: it must be set, since the key of {where} is encrypted"
        raise StoreError(needed, name)
    _check_size(chain, chain_where, chain_name)
    try:
        with _file(chain) as chain_path, _file(key) as key_path:
            context.load_cert_chain(chain_path, key_path, lambda: password or "")
    except (ssl.SSLError, ValueError) as error:
        raise StoreError(_words(where, error, encrypted="ENCRYPTED" in key), name) from None


def _check_size(chain: str, where: str, name: str) -> None:
    """Checks the size of the key in the first certificate, which is the broker's own."""
    body = next(body for label, body in _blocks(chain) if label.endswith("CERTIFICATE"))
    try:
        bits = rsa_bits(a2b_base64(body))
    except ValueError:
        raise StoreError(f"{where}: {_OPENSSL} cannot use the certificate", name) from None
    if bits > RSA_BITS_MAX:
        text = f"its RSA key has {bits} bits; with more than {RSA_BITS_MAX} each handshake is slow"
        raise StoreError(f"{where}: {text}", name)


def rsa_bits(certificate: bytes) -> int:
    """The bits of a certificate's key (in DER), which Python's ssl does not
    return; 0 if the key is not RSA's. Raises ValueError."""
    try:
        (_, signed), *_ = _fields(_fields(certificate)[0][1])
        parts = [each for each in _fields(signed) if each[0] != _VERSION]
        (_, algorithm), (_, key) = _fields(parts[_SPKI][1])
        if not _fields(algorithm)[0][1].startswith(_OF_RSA):
            return 0
        (_, modulus), *_ = _fields(_fields(key[1:])[0][1])
    except IndexError:
        raise ValueError("it ends too early") from None
    return int.from_bytes(modulus).bit_length()


def _fields(data: bytes) -> list[Field]:
    """Tag and content of each value that stands there. Raises IndexError, ValueError."""
    found, at = [], 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size >= 0x80:
            width = size - 0x80
            size, at = int.from_bytes(data[at : at + width]), at + width
        if at + size > len(data):
            raise ValueError("a value ends behind what holds it")
        found.append((tag, data[at : at + size]))
        at += size
    return found


def _words(where: str, error: ssl.SSLError | ValueError, *, encrypted: bool) -> str:
    reason = getattr(error, "reason", None) or str(error)
    if reason == "KEY_VALUES_MISMATCH":
        return f"{where}: the private key does not fit the first certificate"
    if encrypted and reason not in ("EE_KEY_TOO_SMALL", "CA_MD_TOO_WEAK"):
        return f"ssl.key.password does not open the key of {where}"
    return f"{where}: {_OPENSSL} cannot use the key or the certificate ({reason})"


def load_trust(context: ssl.SSLContext, store: Store) -> None:
    """Loads the trusted certificates. As in Java, any certificate of the store is trusted by
    itself, not only a root. Raises StoreError."""
    name = store.location_key if store.location else "ssl.truststore.certificates"
    text = _read(store, name) if store.location else pem(store.certificates)
    try:
        context.load_verify_locations(cadata=text)
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or str(error)
        text = f"{name}: it holds no usable certificates in PEM ({reason})"
        raise StoreError(text, name) from None
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _read(store: Store, name: str) -> str:
    try:
        text = read_regular_file(store.location, store.barred_dirs).decode("latin-1")
    except OSError as error:
        error_type = StoreGoneError if isinstance(error, FileNotFoundError) else StoreError
        said = f"{name}: cannot read {store.location}: {error.strerror}"
        raise error_type(said, name) from None
    if "-----BEGIN " not in text:
        raise StoreError(f"{name}: {store.location} is not PEM", name)
    return pem(text)


def pem(text: str) -> str:
    """PEM with its lines in order: in a properties file they are joined by blanks or by nothing."""
    blocks = []
    for name, body in _blocks(text):
        if ":" in body:  # headers of an old encrypted key: its lines are as they must be
            lines = body.strip("\n")
        else:
            data = "".join(body.split())
            lines = "\n".join(data[at : at + 64] for at in range(0, len(data), 64))
        blocks.append(f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n")
    return "".join(blocks)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Name and content of each, in one pass, whatever stands there."""
    begun: re.Match[str] | None = None
    for mark in _MARK.finditer(text):
        if mark[1] == "BEGIN":
            begun = mark
        elif begun is not None and begun[2] == mark[2]:
            yield mark[2], text[begun.end() : mark.start()]
            begun = None


@contextmanager
def _file(text: str) -> Iterator[str]:
    """A path that holds the text, in memory only."""
    number = os.memfd_create("pem", os.MFD_CLOEXEC)
    try:
        with open(number, "w", closefd=False) as file:
            file.write(text)
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)
