"""Settings of SSL listeners (Kafka's SslConfigs): `ssl.*`, each also as `listener.name.NAME.ssl.*`
for one.

Key and trust store are PEM (KIP-651), in a file or written into the properties themselves. Nothing
is read here: `brokerd.security.ssl_engine_factory` opens the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokerd.config.value_parsers import words

PREFIX = "listener.name."
CLIENT_AUTH = ("none", "requested", "required")
PROTOCOLS = ("TLSv1.2", "TLSv1.3")
TLS13_SUITES = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
)
KEYS = (
    "ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password",
    "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.key.password",
    "ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.password",
    "ssl.truststore.certificates", "ssl.client.auth", "ssl.enabled.protocols",
    "ssl.cipher.suites", "ssl.protocol",
)  # fmt: skip
LIVE_KEYS = frozenset(
    {
        "ssl.keystore.type", "ssl.keystore.location",
        "ssl.truststore.type", "ssl.truststore.location",
    }
)  # fmt: skip
"""What may be set for one listener while it is open."""
_PEM_NEEDED = (
    "is a store of Java's own; brokerd reads PEM: write {key}.type=PEM and the path of a PEM file"
    " (`keytool -importkeystore … -deststoretype PKCS12` and `openssl pkcs12 -nodes` make one)"
)


@dataclass(frozen=True, slots=True)
class Store:
    """PEM of a key or trust store: a file's path, or the texts themselves; '' is not given. Stores
    are equal whatever `location_key` and `barred_dirs` are."""

    location: str = ""
    certificates: str = ""
    key: str = ""
    location_key: str = field(default="ssl.keystore.location", compare=False)
    """The setting that has the location, for error messages."""
    barred_dirs: tuple[str, ...] | None = field(default=None, compare=False)
    """If a client named the file while the broker ran: directories that it must not lie in."""


@dataclass(frozen=True, slots=True)
class SslConfigs:
    """How one listener speaks TLS. `cipher_suites` have their IANA names; empty is the default."""

    keystore: Store
    truststore: Store
    key_password: str | None = None
    client_auth: str = "none"
    protocols: tuple[str, ...] = PROTOCOLS
    cipher_suites: tuple[str, ...] = ()


def is_tls_key(name: str) -> bool:
    """Whether this is a setting of SSL, of all listeners or of one."""
    if name.startswith(PREFIX):
        _, _, name = name.removeprefix(PREFIX).partition(".")
    return name in KEYS


def tls_key_of_listener(name: str) -> tuple[str, str]:
    """Listener and setting of `listener.name.NAME.ssl.…`; ('', '') for any other name."""
    listener, _, key = name.removeprefix(PREFIX).partition(".")
    if not (name.startswith(PREFIX) and listener and key in KEYS):
        return "", ""
    return listener.upper(), key


def ssl_configs(
    texts: Mapping[str, str], listener: str, problems: list[str], *, needs_key: bool = True
) -> SslConfigs:
    """The settings of a listener, or (without `needs_key`) of a client; adds to `problems`."""
    reading = _Reading(texts, listener, problems)
    return SslConfigs(
        keystore=reading.keystore(needs_key),
        truststore=reading.truststore(),
        key_password=reading.get("ssl.key.password") or None,
        client_auth=reading.client_auth(),
        protocols=reading.protocols(),
        cipher_suites=words(reading.get("ssl.cipher.suites")),
    )


class _Reading:
    """One listener's settings, each with the name it was found under."""

    def __init__(self, texts: Mapping[str, str], listener: str, problems: list[str]) -> None:
        self._texts = texts
        self._prefix = f"{PREFIX}{listener.lower()}."
        self._problems = problems

    def _name(self, key: str) -> str:
        return self._prefix + key if self._prefix + key in self._texts else key

    def get(self, key: str) -> str:
        return self._texts.get(self._name(key), "")

    def _say(self, key: str, what: str) -> None:
        problem = f"{self._name(key)}: {what}"
        if problem not in self._problems:
            self._problems.append(problem)

    def keystore(self, needs_key: bool) -> Store:
        location = self.get("ssl.keystore.location")
        chain = self.get("ssl.keystore.certificate.chain")
        key = self.get("ssl.keystore.key")
        self._check_store("ssl.keystore", location, chain or key)
        if location and (chain or key):
            self._say(
                "ssl.keystore.location",
                "it excludes ssl.keystore.key and ssl.keystore.certificate.chain",
            )
        elif not location and not (chain or key):
            if needs_key:
                self._say(
                    "ssl.keystore.location", "an SSL listener needs a key: it must be set, or for"
                    " one listener listener.name.NAME.ssl.keystore.location",
                )  # fmt: skip
        elif not location and not key:
            self._say("ssl.keystore.key", "it must be set with ssl.keystore.certificate.chain")
        elif not location and not chain:
            self._say("ssl.keystore.certificate.chain", "it must be set with ssl.keystore.key")
        return Store(location, chain, key, self._name("ssl.keystore.location"))

    def truststore(self) -> Store:
        location = self.get("ssl.truststore.location")
        certificates = self.get("ssl.truststore.certificates")
        self._check_store("ssl.truststore", location, certificates)
        if location and certificates:
            self._say("ssl.truststore.location", "it excludes ssl.truststore.certificates")
        return Store(location, certificates, "", self._name("ssl.truststore.location"))

    def _check_store(self, key: str, location: str, inline: str) -> None:
        if not location and not inline:
            return
        kind = self.get(f"{key}.type") or "JKS"
        if kind.upper() != "PEM":
            self._say(f"{key}.type", f"{kind} " + _PEM_NEEDED.format(key=key))
        elif self.get(f"{key}.password"):
            what = "a PEM store has none; that of an encrypted key is ssl.key.password"
            self._say(f"{key}.password", what)

    def client_auth(self) -> str:
        value = (self.get("ssl.client.auth") or "none").lower()
        if value not in CLIENT_AUTH:
            self._say("ssl.client.auth", f"{value!r} is not one of {', '.join(CLIENT_AUTH)}")
        elif value != "none" and not (
            self.get("ssl.truststore.location") or self.get("ssl.truststore.certificates")
        ):
            self._say(
                "ssl.client.auth", f"{value} needs ssl.truststore.location or"
                " ssl.truststore.certificates: who may vouch for clients",
            )  # fmt: skip
        return value

    def protocols(self) -> tuple[str, ...]:
        found = words(self.get("ssl.enabled.protocols")) or PROTOCOLS
        if any(each not in PROTOCOLS for each in found):
            served = " and ".join(PROTOCOLS)
            self._say("ssl.enabled.protocols", f"{','.join(found)!r}: served are {served}")
        return found
