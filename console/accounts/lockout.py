"""Slows down guessing of passwords: after a few failures an account and an address must wait.

Counts live in the cache, shared by all web processes, and expire by themselves. An account is
locked after MAX_PER_ACCOUNT failures from one address, so that a stranger elsewhere cannot lock
its owner out; an address after MAX_PER_ADDRESS over all accounts. An attempt is counted before its
password is looked at, by one atomic step, and taken back when it was right: of many at once no more
are looked at than of many in a row. One that is refused does not lengthen the wait, so that a lock
ends however often somebody tries.

A name counts as the form reads it, whatever its case; an address as what one person or machine has:
all loopback addresses are one, and so is a /64 of IPv6. Behind a proxy the address is the one that
the proxy names (AERIE_ALLOWED_HOSTS in docs/operating.md). Where the cache cannot be reached,
signing in still works (the passwords are what protects) and a warning is logged.
"""

import hashlib
import ipaddress
import logging
import unicodedata

from django.core.cache import cache

MAX_PER_ACCOUNT = 5
MAX_PER_ADDRESS = 30
WAIT_SECONDS = 300

log = logging.getLogger(__name__)


def attempt(username: str, address: str) -> bool:
    """Counts one attempt; False when it must not be looked at."""
    account, origin = _keys(username, address)
    try:
        if not _counted(account, MAX_PER_ACCOUNT):
            return False
        if not _counted(origin, MAX_PER_ADDRESS):
            _take_back(account)
            return False
    except Exception:
        log.warning("sign-ins cannot be counted: the cache does not answer")
    return True


def succeeded(username: str, address: str) -> None:
    """The attempt was right: the account's count starts afresh, the address's is as before."""
    account, origin = _keys(username, address)
    try:
        cache.delete(account)
        _take_back(origin)
    except Exception:
        log.warning("sign-in failures were not reset: the cache does not answer")


def _counted(key: str, most: int) -> bool:
    """Adds one; False where that is more than `most`, and then the wait is not begun again."""
    cache.add(key, 0, WAIT_SECONDS)
    try:
        count = cache.incr(key)
    except ValueError:  # it expired between the two
        return bool(cache.add(key, 1, WAIT_SECONDS)) or _counted(key, most)
    if count <= most:
        cache.touch(key, WAIT_SECONDS)
    return bool(count <= most)


def _take_back(key: str) -> None:
    try:
        cache.decr(key)
    except ValueError:
        pass  # it expired


def _keys(username: str, address: str) -> tuple[str, str]:
    """The keys of the account at this address, and of the address. Hashed: of bounded length."""
    place = _place(address)
    account = hashlib.sha256(f"{place}\0{normal_name(username)}".encode(errors="replace"))
    origin = hashlib.sha256(place.encode(errors="replace"))
    return f"signin:a:{account.hexdigest()[:32]}", f"signin:o:{origin.hexdigest()[:32]}"


def normal_name(username: str) -> str:
    """All ways to type a name alike: spaces around it, full-width letters, the case."""
    return unicodedata.normalize("NFKC", username).casefold().strip()


def _place(address: str) -> str:
    """Where an address is from, as far as one person can choose it."""
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
