"""Something on 127.0.0.1 that speaks Kafka's protocol and answers each API as it is told."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_HEAD = struct.Struct(">hhi")
_API_VERSIONS = 18

# api key → what stands behind the size and the correlation id, given the port that it serves on
Answers = dict[int, Callable[[int], bytes]]


@contextmanager
def hostile_broker(answers: Answers, highest: dict[int, int] | None = None) -> Iterator[int]:
    """The port; an API without an answer gets none. `highest`: versions of APIs that it claims."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        thread = threading.Thread(
            target=_accept, args=(server, port, answers, highest or {}), daemon=True
        )
        thread.start()
        try:
            yield port
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


def _accept(server: socket.socket, port: int, answers: Answers, highest: dict[int, int]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        given = (connection, port, answers, highest)
        threading.Thread(target=_serve, args=given, daemon=True).start()


def _serve(connection: socket.socket, port: int, answers: Answers, highest: dict[int, int]) -> None:
    with connection, connection.makefile("rb") as stream:
        while len(size := stream.read(4)) == 4:
            request = stream.read(struct.unpack(">i", size)[0])
            if len(request) < _HEAD.size:
                return
            api_key, _version, number = _HEAD.unpack_from(request)
            if api_key == _API_VERSIONS:
                body = _versions(highest)
            elif api_key in answers:
                body = answers[api_key](port)
            else:
                continue
            try:
                connection.sendall(struct.pack(">ii", len(body) + 4, number) + body)
            except OSError:
                return  # it hung up, which is its right


def _versions(highest: dict[int, int]) -> bytes:
    ranges = b"".join(struct.pack(">hhh", key, 0, highest.get(key, 20)) for key in range(70))
    return struct.pack(">hi", 0, 70) + ranges
