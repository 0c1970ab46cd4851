"""Whether ZooKeeper answers, and which server leads: the four-letter word `srvr` to each.

A server whose whitelist lacks `srvr` still counts as up; its mode is then not known. One that has
lost its quorum answers, but serves nobody: it counts as down.
"""

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

_TIMEOUT_S = 1.0
_NO_QUORUM = "not currently serving"
_ANSWER_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """One server of the ensemble; None = not told."""

    host: str
    port: int
    up: bool
    mode: str | None = None  # leader, follower, standalone
    version: str | None = None


class ZooKeeper:
    """The ensemble of one cluster; no address = the cluster shows none."""

    def __init__(self, addresses: Sequence[tuple[str, int]]) -> None:
        self._addresses = addresses

    def presence(self) -> list[Server]:
        """Every server, asked side by side, within a second or two. Never raises for faults."""
        if not self._addresses:
            return []
        with ThreadPoolExecutor(len(self._addresses)) as pool:
            return list(pool.map(_ask, self._addresses))


def _ask(address: tuple[str, int]) -> Server:
    host, port = address
    try:
        with socket.create_connection(address, timeout=_TIMEOUT_S) as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.sendall(b"srvr")
            answer = _read(connection)
    except OSError:
        return Server(host, port, up=False)
    return Server(
        host,
        port,
        up=bool(answer) and _NO_QUORUM not in answer,
        mode=_after("Mode: ", answer),
        version=_after("Zookeeper version: ", answer),
    )


def _read(connection: socket.socket) -> str:
    answer = bytearray()
    while len(answer) < _ANSWER_BYTES_MAX and (part := connection.recv(4096)):
        answer += part
    return answer.decode(errors="replace")


def _after(label: str, answer: str) -> str | None:
    for line in answer.splitlines():
        if line.startswith(label):
            return line[len(label) :].split(",")[0].strip()
    return None
