"""The one check that every outgoing URL of the product passes.

A URL's host is resolved once, every address is judged, and the request then goes to that very
address (no second look-up that could answer something else), with the host's name kept for the
`Host` header and TLS. Loopback, link-local, private and other special addresses are refused
unless `AERIE_EGRESS_ALLOW` names them, as an address, a network (10.0.0.0/8) or a host name.
Redirects are never followed, and callers bound time and size.
"""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

_PORTS = {"http": 80, "https": 443}
URL_LENGTH_MAX = 2000

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class EgressRefused(Exception):
    """A URL that may not be requested; trying again does not help."""

    retriable = False


class EgressUnresolved(Exception):
    """A host that does not resolve just now."""

    retriable = True


@dataclass(frozen=True, slots=True)
class Target:
    """A judged destination: request `url` with `headers` and, over TLS, `server_name`."""

    url: str  # the host replaced by its address
    host_header: str
    server_name: str  # for TLS: the certificate is checked against this name

    @property
    def headers(self) -> dict[str, str]:
        return {"Host": self.host_header}

    @property
    def extensions(self) -> dict[str, str]:
        return {"sni_hostname": self.server_name}


def check_url(url: str, also_allowed: Sequence[str] = ()) -> Target:
    """Judge `url` and return where to send the request.

    `also_allowed`: addresses, networks or host names that this caller trusts besides
    `AERIE_EGRESS_ALLOW`. Raises EgressRefused or EgressUnresolved, each with a reason that
    names the host, never the path (which may hold a token).
    """
    scheme, host, port = _split(url)
    allowed = [*settings.AERIE_EGRESS_ALLOW, *also_allowed]
    addresses = _resolve(host, port)
    if host not in allowed:
        for address in addresses:
            _judge(host, address, allowed)
    parts = urlsplit(url)
    chosen = addresses[0]
    literal = f"[{chosen}]" if chosen.version == 6 else str(chosen)
    netloc = literal if port == _PORTS[scheme] else f"{literal}:{port}"
    shown = f"[{host}]" if ":" in host else host
    return Target(
        url=urlunsplit((scheme, netloc, parts.path or "/", parts.query, "")),
        host_header=shown if port == _PORTS[scheme] else f"{shown}:{port}",
        server_name=host,
    )


def _split(url: str) -> tuple[str, str, int]:
    if len(url) > URL_LENGTH_MAX:
        raise EgressRefused(f"the URL is longer than {URL_LENGTH_MAX} characters")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise EgressRefused("the URL does not parse") from error
    if parts.scheme not in _PORTS:
        raise EgressRefused("the URL must start with http:// or https://")
    if not host:
        raise EgressRefused("the URL names no host")
    if parts.username is not None or parts.password is not None:
        raise EgressRefused("the URL must not contain a user name or password")
    return parts.scheme, host, port or _PORTS[parts.scheme]


def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise EgressUnresolved(f"{host} does not resolve") from error
    return [ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in found]


def _judge(host: str, address: Address, allowed: Sequence[str]) -> None:
    plain = getattr(address, "ipv4_mapped", None) or address
    if plain.is_global and not plain.is_multicast:
        return
    for entry in allowed:
        try:
            if plain in ipaddress.ip_network(entry, strict=False):
                return
        except ValueError:
            continue  # a host name, compared before
    what = host if host == str(address) else f"{host} ({address})"
    raise EgressRefused(
        f"{what} is not a public address. If it is meant, whoever runs Aerie names it in "
        "AERIE_EGRESS_ALLOW"
    )
