"""Checks every URL to which the console sends a request (protection against SSRF).

The host is resolved once and every address is checked. The request then goes to the checked
address, without a second DNS lookup; the host's name is kept for the `Host` header and TLS.
Loopback, private and other special addresses are refused, unless they are a target of the setting
`AERIE_EGRESS_ALLOW` or one that an admin allowed (models.py): an address, a network
(10.0.0.0/8) or a host name. The metadata services of clouds are always refused. Redirects are never
followed, and callers limit time and size.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

from monitoring.egress.addresses import Address, AllowedTarget, idna, refusal
from monitoring.error_reason import Reason

_PORTS = {"http": 80, "https": 443}
URL_LENGTH_MAX = 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # urlsplit silently removes some of them


class EgressRefused(Exception):
    """The URL may not be requested; a retry does not help.

    The reason does not contain the resolved address; `address` has it, for the operator only.
    """

    retriable = False

    def __init__(self, reason: Reason, address: str = "") -> None:
        super().__init__(reason)
        self.reason, self.address = reason, address


class EgressUnresolved(Exception):
    """The host does not resolve now; a retry may help."""

    retriable = True

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """A checked destination: request `url` with `headers` and, over TLS, `server_name`."""

    url: str  # the host replaced by its address
    host_header: str
    server_name: str  # for TLS: the certificate is checked against this name

    @property
    def headers(self) -> dict[str, str]:
        return {"Host": self.host_header}

    @property
    def extensions(self) -> dict[str, str]:
        return {"sni_hostname": self.server_name}


def check_url(url: str, allowed: Sequence[AllowedTarget] = ()) -> CheckedTarget:
    """Check `url` and return where to send the request.

    `allowed`: targets that are allowed besides those of `AERIE_EGRESS_ALLOW`. Raises EgressRefused
    or EgressUnresolved. Their reasons contain the host but never the path, which may contain a
    token.
    """
    return check_against(url, (*setting_targets(), *allowed))


def check_against(url: str, targets: Sequence[AllowedTarget]) -> CheckedTarget:
    """Check `url` as `check_url` does, but allow only `targets`. It needs no settings of Django."""
    scheme, host, port = split_url(url)
    addresses = _resolve(host, port)
    for address in addresses:
        if reason := refusal(host, port, address, targets):
            raise EgressRefused(reason, "" if host == str(address) else str(address))
    parts = urlsplit(url)
    address = addresses[0]
    literal = f"[{address}]" if address.version == 6 else str(address)
    netloc = literal if port == _PORTS[scheme] else f"{literal}:{port}"
    host_text = f"[{host}]" if ":" in host else host
    return CheckedTarget(
        url=urlunsplit((scheme, netloc, parts.path or "/", parts.query, "")),
        host_header=host_text if port == _PORTS[scheme] else f"{host_text}:{port}",
        server_name=host,
    )


def split_url(url: str) -> tuple[str, str, int]:
    """Scheme, host (lower case, in IDNA encoding) and port of `url`.

    Raises EgressRefused for an invalid URL. Does not resolve the host.
    """
    if len(url) > URL_LENGTH_MAX:
        raise EgressRefused(Reason("url_too_long", max=URL_LENGTH_MAX))
    if _CONTROL.search(url):
        raise EgressRefused(Reason("url_control_character"))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise EgressRefused(Reason("url_unparsable")) from error
    if parts.scheme not in _PORTS:
        raise EgressRefused(Reason("url_scheme"))
    if not host:
        raise EgressRefused(Reason("url_without_host"))
    if parts.username is not None or parts.password is not None:
        raise EgressRefused(Reason("url_with_login"))
    if port == 0:
        raise EgressRefused(Reason("url_port_0"))
    if not (encoded := idna(host)):
        raise EgressRefused(Reason("url_host"))
    return parts.scheme, encoded, port or _PORTS[parts.scheme]


def setting_targets() -> list[AllowedTarget]:
    """The targets of `AERIE_EGRESS_ALLOW`; they are allowed for every purpose and on every port."""
    return [AllowedTarget(entry.lower()) for entry in settings.AERIE_EGRESS_ALLOW]


def origins(urls: Iterable[str]) -> set[tuple[str, str, int]]:
    """The origins of these URLs: a secret entered for one origin must not be sent to another."""
    return {split_url(url) for url in urls}


def _resolve(host: str, port: int) -> list[Address]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise EgressUnresolved(Reason("host_unresolved", host=host)) from error
    return [ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in infos]
