"""The saved ZooKeeper session of this broker, so that its next start can end it at once.

After kill -9 the old registration would live on until the session times out. The next process on
the same (locked) log directory takes the session over by id and password and closes it. The file is
JSON, mode 0600.
"""

import json
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kazoo.exceptions import KazooException

from brokerd.cluster.zookeeper.kazoo_client import Client
from brokerd.security.jaas import Credentials

logger = logging.getLogger(__name__)

REATTACH_TIMEOUT_S = 5.0


class SavedSession(NamedTuple):
    id: int
    password: bytes


def save(path: Path, session: SavedSession) -> None:
    """Replaces the file in one step, if the disk allows it."""
    temporary = path.with_name(path.name + ".tmp")
    text = json.dumps({"version": 1, "id": session.id, "password": session.password.hex()})
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        logger.warning("the ZooKeeper session cannot be saved in %s: %s", path, error.strerror)


def load(path: Path) -> SavedSession | None:
    """None if the file is missing or cannot be read: then the old session must time out."""
    try:
        value = json.loads(path.read_text())
        return SavedSession(int(value["id"]), bytes.fromhex(value["password"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("the saved ZooKeeper session %s is of no use: %r", path, error)
        return None


def forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def end(
    connect: str,
    session: SavedSession,
    session_timeout_ms: int,
    credentials: Credentials | None = None,
) -> bool:
    """Takes over a session and closes it, so that its ephemeral nodes are removed. Blocks. False if
    that failed: the session had ended before, or ZooKeeper did not answer in time."""
    hosts = connect.partition("/")[0]
    client = Client(hosts, session_timeout_ms, (session.id, session.password), credentials)
    try:
        client.start_async().wait(REATTACH_TIMEOUT_S)
        client_id = client.client_id
        return bool(client.connected and client_id and client_id[0] == session.id)
    finally:
        # kazoo stumbles over its own socket where it never had a connection.
        with suppress(KazooException, OSError, AttributeError):
            client.stop()
            client.close()


def end_saved(
    path: Path, connect: str, session_timeout_ms: int, credentials: Credentials | None = None
) -> None:
    """Ends the session that an earlier process saved, if there is one. Blocks."""
    earlier = load(path)
    if earlier is None:
        return
    ended = end(connect, earlier, session_timeout_ms, credentials)
    forget(path)
    if ended:
        logger.info("the session 0x%x that an earlier process left is ended", earlier.id)
