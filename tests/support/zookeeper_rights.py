"""Who has which rights to the nodes of a cluster in a real ZooKeeper."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kazoo.exceptions import NoNodeError

from brokerd.cluster.zookeeper.kazoo_client import Client
from brokerd.security.jaas import Credentials

Rights = dict[str, int]
DEADLINE_S = 30


@contextmanager
def session(connect: str, credentials: Credentials | None) -> Iterator[Client]:
    client = Client(connect, 10_000, credentials=credentials)
    client.start(DEADLINE_S)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def rights_of_all(connect: str, credentials: Credentials | None) -> dict[str, Rights]:
    """By path, and for each by scheme and name of who has them; 31 is everything, 1 is to read."""
    with session(connect, credentials) as client:
        found = {path: _rights(client, path) for path in ["/", *_paths_below(client, "/")]}
    return {path: rights for path, rights in found.items() if rights}


def _paths_below(client: Any, path: str) -> list[str]:
    try:
        names = client.get_children(path)
    except NoNodeError:  # the feed's entries come and go
        return []
    below = [f"{path.rstrip('/')}/{name}" for name in names]
    return below + [each for inner in below for each in _paths_below(client, inner)]


def _rights(client: Any, path: str) -> Rights:
    try:
        found = client.get_acls(path)[0]
    except NoNodeError:
        return {}
    return {f"{acl.id.scheme}:{acl.id.id}": acl.perms for acl in found}
