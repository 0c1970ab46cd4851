"""The one check that every outgoing URL of the product passes.

A URL's host is resolved once, every address is judged, and the request then goes to that very
address (no second look-up that could answer something else), with the host's name kept for the
`Host` header and TLS. Loopback, link-local, private and other special addresses are refused
unless `AERIE_EGRESS_ALLOW` names them, as an address, a network (10.0.0.0/8) or a host name.
Redirects are never followed, and callers bound time and size.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

_PORTS = {"http": 80, "https": 443}
URL_LENGTH_MAX = 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # urlsplit drops some of them without a word
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*(%[a-z0-9._-]+)?")
# IPv6 networks whose last 32 bits are an IPv4 address: the deprecated "compatible" one, NAT64.
_ENDS_IN_IPV4 = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("64:ff9b::/96"))
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that IANA gives out; the rest is special
# Special, though `is_global` says otherwise, of some of them or in some versions of Python.
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "2001::/23",  # protocol assignments
        "3fff::/20",  # documentation
        "192.0.0.0/24",  # protocol assignments
        "192.88.99.0/24",  # relays of 6to4
    )
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class EgressRefused(Exception):
    """A URL that may not be requested; trying again does not help.

    The text names no address that a name stands for, `address` does: it is for who runs Aerie.
    """

    retriable = False

    def __init__(self, text: str, address: str = "") -> None:
        super().__init__(text)
        self.address = address


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
    scheme, host, port = split_url(url)
    allowed = [entry.lower() for entry in (*settings.AERIE_EGRESS_ALLOW, *also_allowed)]
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


def split_url(url: str) -> tuple[str, str, int]:
    """Scheme, host (lower case, a name of other letters as DNS knows it) and port of `url`.

    Raises EgressRefused for what no request could be sent to, whatever its host resolves to.
    """
    if len(url) > URL_LENGTH_MAX:
        raise EgressRefused(f"the URL is longer than {URL_LENGTH_MAX} characters")
    if _CONTROL.search(url):
        raise EgressRefused("the URL contains a control character")
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
    if port == 0:
        raise EgressRefused("the URL names port 0, which nothing listens on")
    return parts.scheme, _as_dns_knows(host), port or _PORTS[parts.scheme]


def origins(urls: Iterable[str]) -> set[tuple[str, str, int]]:
    """Whom these URLs ask: a secret that was typed for one is not for another."""
    return {split_url(url) for url in urls}


def _as_dns_knows(host: str) -> str:
    try:
        known = host.encode("idna").decode().lower() if ":" not in host else host
    except UnicodeError:
        known = ""
    if not _HOST.fullmatch(known):
        raise EgressRefused("the URL's host is neither a name nor an address")
    return known


def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise EgressUnresolved(f"{host} does not resolve") from error
    return [ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in found]


def _meant(address: Address) -> Address:
    """Where a packet to this address ends: of a translated one, the IPv4 address within it."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _ENDS_IN_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    is_special = address.is_multicast or any(address in network for network in _NOT_PUBLIC)
    is_special |= address.version == 6 and address not in _UNICAST
    return address.is_global and not is_special


def _judge(host: str, address: Address, allowed: Sequence[str]) -> None:
    meant = _meant(address)
    if _is_public(meant):
        return
    for entry in allowed:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            continue  # a host name, compared by check_url
        if address in network or meant in network:
            return
    raise EgressRefused(
        f"{host} is not a public address. If it is meant, whoever runs Aerie names it in "
        "AERIE_EGRESS_ALLOW",
        "" if host == str(address) else str(address),
    )
