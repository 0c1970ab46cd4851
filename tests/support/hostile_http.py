"""A server on 127.0.0.1 that answers with the bytes it is given, and bombs to give it."""

import socket
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import zstandard

MIB = 1 << 20


def zstd_bomb(size_bytes: int = 256 * MIB) -> bytes:
    """A whole HTTP answer of some kilobytes whose body decodes to `size_bytes`."""
    body = zstandard.ZstdCompressor().compress(bytes(size_bytes))
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def json_answer(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


@contextmanager
def answering(answer: bytes, *, then: bytes = b"") -> Iterator[tuple[int, list[bytes]]]:
    """(port, the requests' heads); after `answer` it sends `then` again and again until closed."""
    heads: list[bytes] = []
    stopped = threading.Event()

    def serve(server: socket.socket) -> None:
        while not stopped.is_set():
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    heads.append(connection.recv(65536))
                    connection.sendall(answer)
                    while then and not stopped.wait(0.01):
                        connection.sendall(then)
                except OSError:
                    pass  # it hung up, which is its right

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1], heads
        finally:
            stopped.set()
            server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


@contextmanager
def memory_below(limit_bytes: int) -> Iterator[None]:
    """Fails where Python takes more at any moment meanwhile."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit_bytes, f"{peak >> 20} MiB"
