"""Which ZooKeeper servers are up: queries each with the four-letter word `srvr`, over a connection
of its own that is closed again. The console has no ZooKeeper session.

A server that does not allow `srvr` counts as up. A server without a quorum
answers but serves no requests; it counts as down.
"""

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from monitoring.gateway import request_timeouts

_NO_QUORUM = "not currently serving"
_ANSWER_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """One server of the ensemble."""

    host: str
    port: int
    up: bool


class ZooKeeper:
    """The ensemble of one cluster; no addresses = the cluster has no ZooKeeper."""

    def __init__(self, addresses: Sequence[tuple[str, int]]) -> None:
        self._addresses = addresses

    def server_states(self) -> list[Server]:
        """The states of all servers, queried in parallel within two seconds.

        A server that does not answer is returned as down.
        """
        if not self._addresses:
            return []
        with ThreadPoolExecutor(len(self._addresses)) as pool:
            return list(pool.map(_query, self._addresses))


def _query(address: tuple[str, int]) -> Server:
    host, port = address
    try:
        with socket.create_connection(
            address, timeout=request_timeouts.ZOOKEEPER_READ_S
        ) as connection:
            connection.settimeout(request_timeouts.ZOOKEEPER_READ_S)
            connection.sendall(b"srvr")
            answer = _read(connection)
    except OSError:
        return Server(host, port, up=False)
    return Server(host, port, up=bool(answer) and _NO_QUORUM not in answer)


def _read(connection: socket.socket) -> str:
    answer = bytearray()
    while len(answer) < _ANSWER_BYTES_MAX and (part := connection.recv(4096)):
        answer += part
    return answer.decode(errors="replace")
