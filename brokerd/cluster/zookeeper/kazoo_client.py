"""kazoo's client with the settings of this broker, and with changes to its private parts:

- A server that is just starting may take a connection and never answer it. kazoo waits for that
  answer as long as the session timeout that was asked for, and the session has ended by then. Here
  it waits for ANSWER_TIMEOUT_S and tries again.
- The session timeout that the server granted is dropped by kazoo; here it is kept.
- kazoo can make only the last level of a chroot; `make_chroot_async` makes all levels.
- With credentials kazoo says that it is connected before the server has taken them, and gives up
  for ever where a connection ends meanwhile, which may be the server's end as well as its refusal.
  Here it is connected when they were taken, and goes on trying.
"""

import logging
import socket
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionDropped, KazooException, SessionExpiredError
from kazoo.hosts import collect_hosts
from kazoo.protocol.serialization import Create
from kazoo.protocol.states import KeeperState
from kazoo.security import OPEN_ACL_UNSAFE

from brokerd.security.jaas import Credentials

RETRY = {"max_tries": -1, "delay": 0.1, "backoff": 1.5, "max_delay": 1.0}
ANSWER_TIMEOUT_S = 2.0


class Client(KazooClient):  # type: ignore[misc]
    """Connects for ever and logs nothing: its user logs what an operator needs to know."""

    def __init__(
        self,
        hosts: str,
        session_timeout_ms: int,
        client_id: tuple[int, bytes] | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        logger = logging.getLogger("brokerd.cluster.kazoo")
        logger.setLevel(logging.ERROR)
        self.refusal = ""
        """Why the credentials were not taken; '' when they were, or there are none."""
        self.has_credentials = credentials is not None
        self._connected_is_held_back = False
        super().__init__(
            hosts=hosts,
            timeout=session_timeout_ms / 1000,
            client_id=client_id,
            connection_retry=RETRY,
            logger=logger,
            sasl_options=credentials and _digest(credentials),
        )
        self.granted_timeout_ms = session_timeout_ms
        self._connect_of_kazoo = self._connection._connect
        self._connection._connect = self._connect_and_note
        self._invoke_of_kazoo = self._connection._invoke
        self._connection._invoke = self._invoke_with_limit

    def _connect_and_note(self, *address: Any) -> tuple[float, float]:
        """Notes the granted session timeout, of which kazoo's own method returns two thirds."""
        self._connected_is_held_back = self.has_credentials
        try:
            read_timeout_ms, connect_timeout_ms = self._connect_of_kazoo(*address)
        except (ConnectionDropped, SessionExpiredError):
            raise
        except (KazooException, RuntimeError) as error:
            self.refusal = f"ZooKeeper did not take the credentials: {error or repr(error)}"
            raise ConnectionDropped(self.refusal) from error
        self.granted_timeout_ms = round(read_timeout_ms * 3 / 2)
        self.refusal = ""
        if self._connected_is_held_back:
            self._connected_is_held_back = False
            self._session_callback(KeeperState.CONNECTED)
        return read_timeout_ms, connect_timeout_ms

    def _session_callback(self, state: str) -> None:
        if state != KeeperState.CONNECTED or not self._connected_is_held_back:
            super()._session_callback(state)

    def make_chroot_async(self, acl: Any = None) -> Any:
        """Returns the result of the last level. The server serves a session's requests in order, so
        no level waits for the one above. Not for an empty chroot."""
        result = None
        level = ""
        for name in self.chroot.split("/")[1:]:
            level += f"/{name}"
            result = self.handler.async_result()
            self._call(Create(level, b"", acl or OPEN_ACL_UNSAFE, 0), result)
        return result

    def _invoke_with_limit(self, timeout_s: float, request: Any, xid: int | None = None) -> Any:
        """Waits for ANSWER_TIMEOUT_S at most. kazoo calls this only to open a session."""
        return self._invoke_of_kazoo(min(timeout_s, ANSWER_TIMEOUT_S), request, xid)


def _digest(credentials: Credentials) -> dict[str, str]:
    return {
        "mechanism": "DIGEST-MD5",
        "username": credentials.username,
        "password": credentials.password,
    }


def why_unreachable(connect: str) -> str:
    """Which names in `zookeeper.connect` are not known, for an error message. Blocks."""
    reasons = []
    for host, port in collect_hosts(connect)[0]:
        try:
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            reasons.append(f"the name {host} is not known: {error}")
    return "".join(f" ({reason})" for reason in reasons)
