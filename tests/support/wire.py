"""A bare connection to a broker, for tests that send what no client would."""

import socket
import struct
from typing import Any

from brokerd.protocol.messages import decode_response, encode_request

TIMEOUT_S = 10


def is_open(port: int) -> bool:
    """Whether anybody listens there."""
    try:
        socket.create_connection(("127.0.0.1", port), TIMEOUT_S).close()
    except ConnectionRefusedError:
        return False
    return True


class Wire:
    """One connection; `ask` is a request and its response, `send` and `receive` are bytes."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        """`host` is the address that the connection comes from, one of this machine."""
        self._socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S, (host, 0))
        self._correlation_id = 0

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def stop_sending(self) -> None:
        """Closes this side alone: answers can still be received."""
        self._socket.shutdown(socket.SHUT_WR)

    def ask(self, api_key: int, version: int, fields: dict[str, Any]) -> Any:
        self.request(api_key, version, fields)
        return self.answer(api_key, version)

    def request(self, api_key: int, version: int, fields: dict[str, Any]) -> int:
        """Sends a request without waiting; its correlation id."""
        self._correlation_id += 1
        self.send(encode_request(api_key, version, fields, self._correlation_id, "wire"))
        return self._correlation_id

    def answer(self, api_key: int, version: int) -> Any:
        return decode_response(api_key, version, self.frame())

    def frame(self) -> bytes:
        """The next frame without its length; EOFError when the broker has closed."""
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def is_closed(self) -> bool:
        """Whether the broker closes (waits for it); anything it still sends is an error."""
        try:
            data = self._socket.recv(1)
        except ConnectionResetError:
            return True
        assert not data, "the broker answered"
        return True

    def hears_nothing(self, seconds: float = 0.5) -> bool:
        """Whether neither an answer nor an end comes so soon."""
        self._socket.settimeout(seconds)
        try:
            self._socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(TIMEOUT_S)
        return False

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise EOFError(f"closed after {len(data)} of {size} bytes")
            data += piece
        return data
