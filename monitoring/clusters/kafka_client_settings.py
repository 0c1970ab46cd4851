"""How a Kafka client connects to a cluster: bootstrap servers, TLS and SASL, in Kafka's terms.

No Django here, since the worker processes of librdkafka load this module. The secrets are never
part of a `repr`.
"""

import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from monitoring.clusters.sasl_mechanisms import OAUTHBEARER
from monitoring.egress.addresses import AllowedTarget

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = PROTOCOLS = (
    "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL",
)  # fmt: skip


class TlsSettingsInvalid(Exception):
    """A certificate or key cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates and keys are PEM texts; no `ca_pem` = the CAs that this machine trusts."""

    ca_pem: str = ""
    client_certificate_pem: str = ""
    client_key_pem: str = field(default="", repr=False)
    key_password: str = field(default="", repr=False)
    check_host_name: bool = True


@dataclass(frozen=True, slots=True)
class AccessToken:
    value: str = field(repr=False)
    expires_at_ms: int


@dataclass(frozen=True, slots=True)
class Sasl:
    """For OAUTHBEARER, `username` and `password` are the client's id and secret at `token_url`;
    oauth.py requests `token` with them."""

    mechanism: str
    username: str = ""
    password: str = field(default="", repr=False)
    token_url: str = ""
    token_scope: str = ""
    token_targets: tuple[AllowedTarget, ...] = ()  # private targets that `token_url` may name
    token: AccessToken | None = None


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings of one cluster's clients. Hashable."""

    addresses: tuple[tuple[str, int], ...]
    tls: Tls | None = None
    sasl: Sasl | None = None

    @property
    def security_protocol(self) -> str:
        if self.sasl is not None:
            return SASL_SSL if self.tls is not None else SASL_PLAINTEXT
        return SSL if self.tls is not None else PLAINTEXT

    def ssl_context(self) -> ssl.SSLContext | None:
        """None = no TLS. Raises TlsSettingsInvalid."""
        return ssl_context_of(self.tls) if self.tls is not None else None

    def librdkafka(self) -> dict[str, Any]:
        """The properties of a librdkafka client; OAUTHBEARER needs `sasl.token`."""
        servers = ",".join(map(_address_text, self.addresses))
        properties = {
            "bootstrap.servers": servers,
            "security.protocol": self.security_protocol,
        }
        return properties | _tls_properties(self.tls) | _sasl_properties(self.sasl)


def _address_text(address: Sequence[Any]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _tls_properties(tls: Tls | None) -> dict[str, Any]:
    if tls is None:
        return {}
    texts = {"ssl.ca.pem": tls.ca_pem}
    if tls.client_certificate_pem:
        texts |= {
            "ssl.certificate.pem": tls.client_certificate_pem,
            "ssl.key.pem": tls.client_key_pem,
            "ssl.key.password": tls.key_password,
        }
    algorithm = "https" if tls.check_host_name else "none"
    return {name: text for name, text in texts.items() if text} | {
        "ssl.endpoint.identification.algorithm": algorithm
    }


def _sasl_properties(sasl: Sasl | None) -> dict[str, Any]:
    if sasl is None:
        return {}
    properties: dict[str, Any] = {"sasl.mechanism": sasl.mechanism}
    if sasl.mechanism != OAUTHBEARER:
        return properties | {"sasl.username": sasl.username, "sasl.password": sasl.password}
    token = sasl.token
    if token is None:
        raise ValueError("an OAUTHBEARER client needs an access token")
    return properties | {"oauth_cb": lambda _config: (token.value, token.expires_at_ms / 1000)}


@lru_cache(maxsize=64)
def ssl_context_of(tls: Tls) -> ssl.SSLContext:
    """Raises TlsSettingsInvalid."""
    try:
        context = ssl.create_default_context(cadata=tls.ca_pem or None)
        if not tls.check_host_name:
            context.check_hostname = False
        if tls.client_certificate_pem:
            _load_certificate(context, tls)
    except (ssl.SSLError, ValueError, OSError) as error:
        raise TlsSettingsInvalid(getattr(error, "reason", None) or str(error)) from error
    return context


def _load_certificate(context: ssl.SSLContext, tls: Tls) -> None:
    """OpenSSL reads a client's certificate and key only from a file."""
    with tempfile.TemporaryDirectory(prefix="aerie-") as directory:  # mode 0700
        path = Path(directory, "client.pem")
        path.write_text(f"{tls.client_key_pem.strip()}\n{tls.client_certificate_pem.strip()}\n")
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(path, password=tls.key_password or "-")
