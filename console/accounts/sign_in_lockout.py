"""Limits password guessing: after some failed attempts, an account and an address are locked out.

The counters are in the cache, shared by all web processes, and expire. An account is locked after
MAX_PER_ACCOUNT failures from one address, so that others cannot lock its owner out; an address is
locked after MAX_PER_ADDRESS failures for all accounts. An attempt is counted atomically before its
password is checked, and the count is undone if the password was right. So parallel attempts do not
get more checks than sequential ones. Refused attempts do not extend the lockout.

Names are compared without case. All loopback addresses count as one address, and so do the
addresses of an IPv6 /64. Behind a proxy the address is the one in the headers of the proxy
(AERIE_ALLOWED_HOSTS in docs/operating.md). If the cache is unavailable, attempts are not limited,
and a warning is logged.
"""

import hashlib
import ipaddress
import logging
import unicodedata

from django.core.cache import cache

MAX_PER_ACCOUNT = 5
MAX_PER_ADDRESS = 30
LOCKOUT_SECONDS = 300  # also the time after which failures are forgotten

log = logging.getLogger(__name__)


def refused_attempts(username: str, address: str) -> int:
    """Count an attempt. Returns how many were refused since the lockout began, including this one;
    0 = its password may be checked."""
    try:
        return _refused_attempts(*_keys(username, address))
    except Exception:
        log.warning("sign-ins cannot be counted: the cache does not answer")
        return 0


def _refused_attempts(account_key: str, network_key: str) -> int:
    account_count = _count_up(account_key, MAX_PER_ACCOUNT)
    if account_count > MAX_PER_ACCOUNT:
        return account_count - MAX_PER_ACCOUNT
    network_count = _count_up(network_key, MAX_PER_ADDRESS)
    if network_count > MAX_PER_ADDRESS:
        _count_down(account_key)
        return network_count - MAX_PER_ADDRESS
    return 0


def reset_after_success(username: str, address: str) -> None:
    """Reset the account's counter, and undo the count of the address."""
    account_key, network_key = _keys(username, address)
    try:
        cache.delete(account_key)
        _count_down(network_key)
    except Exception:
        log.warning("sign-in failures were not reset: the cache does not answer")


def _count_up(key: str, limit: int) -> int:
    """Add one; returns the new count. Counts above `limit` do not extend the expiry."""
    cache.add(key, 0, LOCKOUT_SECONDS)
    try:
        count = cache.incr(key)
    except ValueError:  # the counter expired meanwhile
        return 1 if cache.add(key, 1, LOCKOUT_SECONDS) else _count_up(key, limit)
    if count <= limit:
        cache.touch(key, LOCKOUT_SECONDS)
    return int(count)


def _count_down(key: str) -> None:
    try:
        cache.decr(key)
    except ValueError:
        pass  # it expired


def _keys(username: str, address: str) -> tuple[str, str]:
    """The cache keys of the account at this address, and of the address; hashed, for a fixed
    length."""
    network = _network(address)
    account_key = hashlib.sha256(f"{network}\0{normal_name(username)}".encode(errors="replace"))
    network_key = hashlib.sha256(network.encode(errors="replace"))
    return (
        f"signin:account:{account_key.hexdigest()[:32]}",
        f"signin:network:{network_key.hexdigest()[:32]}",
    )


def normal_name(username: str) -> str:
    """Normalises a name: surrounding spaces, full-width letters, case."""
    return unicodedata.normalize("NFKC", username).casefold().strip()


def _network(address: str) -> str:
    """The network that counts as one address: all of loopback, or an IPv6 /64."""
    try:
        ip = ipaddress.ip_address(address.strip())
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return "loopback"
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(ip), 64), strict=False))
    return str(ip)
