"""Which addresses outgoing requests may reach: public ones, and targets that are allowed.

The metadata services of clouds are never reached: they give out the credentials of the machine.
Pure, and without Django, since the worker processes of librdkafka load it.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from monitoring.error_reason import Reason

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*(%[a-z0-9._-]+)?")
_NUMBERS = re.compile(r"(0x[0-9a-f]*|[0-9.])+")  # resolvers read such "names" as IPv4 addresses
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
# The metadata services of clouds.
_CLOUD_METADATA = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",  # link-local: AWS, Azure, Google, OpenStack and others
        "fe80::/10",  # link-local: OpenStack
        "fd00:ec2::/32",  # AWS
        "fd20:ce::/32",  # Google
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure
        "192.0.0.192/32",  # Oracle
    )
)
# The shortest prefixes of an allowed network: 10.0.0.0/8 and fc00::/7.
_PREFIX_MIN = {4: 8, 6: 7}


class InvalidTarget(ValueError):
    """The text cannot be an allowed target."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AllowedTarget:
    """A host name, an address or a network in normal form; port 0 = every port."""

    host: str
    port: int = 0

    def allows_name(self, host: str, port: int) -> bool:
        return self.host == host and self.port in (0, port)

    def allows_address(self, address: Address, port: int) -> bool:
        network = network_of(self.host)
        if network is None or self.port not in (0, port):
            return False
        return address in network or destination(address) in network


def refusal(
    host: str, port: int, address: Address, allowed: Iterable[AllowedTarget]
) -> Reason | None:
    """Why a request to `host`, which resolves to `address`, is refused; None if it is allowed."""
    if is_cloud_metadata(address):
        return Reason("address_of_metadata", host=host)
    if is_public(address):
        return None
    for target in allowed:
        if target.allows_name(host, port) or target.allows_address(address, port):
            return None
    return Reason("address_not_public", host=host, port=port)


def destination(address: Address) -> Address:
    """The address that packets reach: for IPv4-in-IPv6 addresses, the IPv4 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _ENDS_IN_IPV4):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_public(address: Address) -> bool:
    address = destination(address)
    is_special = address.is_multicast or any(address in network for network in _NOT_PUBLIC)
    is_special |= address.version == 6 and address not in _UNICAST
    return address.is_global and not is_special


def is_cloud_metadata(address: Address) -> bool:
    reached = destination(address)
    return any(address in network or reached in network for network in _CLOUD_METADATA)


def idna(host: str) -> str:
    """The host in lower case and IDNA encoding; "" if it is neither a name nor an address."""
    try:
        encoded = host.encode("idna").decode().lower() if ":" not in host else host.lower()
    except UnicodeError:
        return ""
    return encoded if _HOST.fullmatch(encoded) else ""


def network_of(text: str) -> Network | None:
    """The network or single address; None for a host name."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def normal_form(text: str) -> str:
    """The text of a target as it is stored and compared. Raises InvalidTarget."""
    text = text.strip().removeprefix("[").removesuffix("]").lower()
    network = network_of(text)
    if network is None:
        name = idna(text)
        if not name or ":" in name or _NUMBERS.fullmatch(name):
            raise InvalidTarget(Reason("target_invalid", text=text[:300]))
        return name
    first, last = network[0], network[-1]
    if is_cloud_metadata(first) and is_cloud_metadata(last):
        raise InvalidTarget(Reason("address_of_metadata", host=text))
    if network.prefixlen < _PREFIX_MIN[network.version]:
        shortest = _PREFIX_MIN[network.version]
        raise InvalidTarget(Reason("target_too_wide", text=text, least=shortest))
    if network.is_global and is_public(first) and is_public(last):
        raise InvalidTarget(Reason("target_public", text=text))
    return str(first) if network.num_addresses == 1 else str(network)
