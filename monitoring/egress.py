"""Checks every URL to which the console sends a request (protection against SSRF).

The host is resolved once and every address is checked. The request then goes to the checked
address, without a second DNS lookup; the host's name is kept for the `Host` header and TLS.
Loopback, link-local, private and other special addresses are refused unless `AERIE_EGRESS_ALLOW`
has them, as an address, a network (10.0.0.0/8) or a host name. Redirects are never followed, and
callers limit time and size.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

from monitoring.reasons import Reason

_PORTS = {"http": 80, "https": 443}
URL_LENGTH_MAX = 2000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")  # urlsplit silently removes some of them
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*(%[a-z0-9._-]+)?")
# IPv6 networks whose last 32 bits are an IPv4 address: the deprecated "compatible" one, NAT64.
_ENDS_IN_IPV4 = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("64:ff9b::/96"))
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that IANA allocates; other addresses are special
# Special networks for which `is_global` is True, at least in some versions of Python.
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
class Target:
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


def check_url(url: str, also_allowed: Sequence[str] = ()) -> Target:
    """Check `url` and return where to send the request.

    `also_allowed`: addresses, networks or host names that are allowed besides `AERIE_EGRESS_ALLOW`.
    Raises EgressRefused or EgressUnresolved. Their reasons contain the host but never the path,
    which may contain a token.
    """
    return check_against(url, (*settings.AERIE_EGRESS_ALLOW, *also_allowed))


def check_against(url: str, allowed_entries: Sequence[str]) -> Target:
    """As `check_url`, for processes without Django's settings: only `allowed_entries` count."""
    scheme, host, port = split_url(url)
    allowed = [entry.lower() for entry in allowed_entries]
    addresses = _resolve(host, port)
    if host not in allowed:
        for address in addresses:
            _check_address(host, address, allowed)
    parts = urlsplit(url)
    address = addresses[0]
    literal = f"[{address}]" if address.version == 6 else str(address)
    netloc = literal if port == _PORTS[scheme] else f"{literal}:{port}"
    host_text = f"[{host}]" if ":" in host else host
    return Target(
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
    return parts.scheme, _idna(host), port or _PORTS[parts.scheme]


def origins(urls: Iterable[str]) -> set[tuple[str, str, int]]:
    """The origins of these URLs: a secret entered for one origin must not be sent to another."""
    return {split_url(url) for url in urls}


def _idna(host: str) -> str:
    try:
        encoded = host.encode("idna").decode().lower() if ":" not in host else host
    except UnicodeError:
        encoded = ""
    if not _HOST.fullmatch(encoded):
        raise EgressRefused(Reason("url_host"))
    return encoded


def _resolve(host: str, port: int) -> list[Address]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise EgressUnresolved(Reason("host_unresolved", host=host)) from error
    return [ipaddress.ip_address(str(info[4][0]).partition("%")[0]) for info in infos]


def _destination(address: Address) -> Address:
    """The address that packets reach: for IPv4-in-IPv6 addresses, the IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _ENDS_IN_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    is_special = address.is_multicast or any(address in network for network in _NOT_PUBLIC)
    is_special |= address.version == 6 and address not in _UNICAST
    return address.is_global and not is_special


def _check_address(host: str, address: Address, allowed: Sequence[str]) -> None:
    destination = _destination(address)
    if _is_public(destination):
        return
    for entry in allowed:
        try:
            network = ipaddress.ip_network(entry, strict=False)
        except ValueError:
            continue  # a host name, compared by check_url
        if address in network or destination in network:
            return
    raise EgressRefused(
        Reason("address_not_public", host=host), "" if host == str(address) else str(address)
    )
