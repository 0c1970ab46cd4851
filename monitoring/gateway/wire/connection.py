"""One TCP connection to a broker: sends frames, matches responses by correlation id.

Every wait has a time-out and every frame a size limit. After an error the connection is closed and
not reused, because a late response could be taken for the next one.
"""

import asyncio
import itertools
import socket
import ssl
from struct import Struct
from typing import Self

from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, OverLimit
from monitoring.gateway.wire.response_limits import ANSWER_BYTES_MAX, PASS_BYTES_MAX

CLIENT_ID = "aerie"
_I32 = Struct(">i")
_HEAD = Struct(">ihhih")  # size, api key, version, correlation id, length of the client id


def frame(api_key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """A request frame with header version 1 (for API versions that are not flexible)."""
    client_id = CLIENT_ID.encode()
    size = _HEAD.size - 4 + len(client_id) + len(body)
    head = _HEAD.pack(size, api_key, version, correlation_id, len(client_id))
    return b"".join((head, client_id, body))


class ByteBudget:
    """The bytes that all connections to one cluster may still receive in this pass.

    A pass reads the whole cluster once.
    """

    def __init__(self) -> None:
        self.left = PASS_BYTES_MAX

    def renew(self) -> None:
        self.left = PASS_BYTES_MAX

    def take(self, size: int) -> None:
        """Raises OverLimit if a response is too large, by itself or together with the others."""
        if not 4 <= size <= ANSWER_BYTES_MAX:
            raise OverLimit(Reason("answer_size", size=size))
        self.left -= size
        if self.left < 0:
            raise OverLimit(Reason("pass_size", max=PASS_BYTES_MAX))


class Connection:
    """Requests may be pipelined; a broker answers them in order."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: ByteBudget
    ) -> None:
        self._budget = budget
        self._reader = reader
        self._writer = writer
        # Correlation id of each request in flight → its response.
        self._in_flight: dict[int, asyncio.Future[bytes]] = {}
        self._correlation_ids = itertools.count(1)
        self.unfinished_bytes = 0  # the size of a response that is not complete yet
        self._receiver = asyncio.create_task(self._receive())

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        timeout_s: float,
        budget: ByteBudget,
        tls: ssl.SSLContext | None = None,
    ) -> Self:
        """Connect, or raise ClusterUnavailable within `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer = await asyncio.open_connection(host, port, limit=1 << 20, ssl=tls)
        except ssl.SSLError as error:
            raise ClusterUnavailable(Reason("no_tls", why=_tls_error_text(error))) from error
        except socket.gaierror as error:
            raise ClusterUnavailable(Reason("host_unknown")) from error
        except (OSError, TimeoutError) as error:
            if tls is not None and isinstance(error, ConnectionResetError):  # as Kafka does then
                raise ClusterUnavailable(Reason("no_tls", why=Reason("not_tls"))) from error
            raise ClusterUnavailable(Reason("no_connection", why=_error_text(error))) from error
        return cls(reader, writer, budget)

    @property
    def usable(self) -> bool:
        return not self._receiver.done()

    def next_correlation_id(self) -> int:
        """The correlation id of the next request; fits the protocol's int32."""
        return next(self._correlation_ids) & 0x7FFFFFFF

    async def call(self, correlation_id: int, request: bytes, timeout_s: float) -> bytes:
        """Send `request` and return the response without its length; it starts with the id.

        Raises ClusterUnavailable if the connection breaks or `timeout_s` passes, OverLimit if the
        response is too large.
        """
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._in_flight[correlation_id] = answer
        try:
            async with asyncio.timeout(timeout_s):
                self._writer.write(request)
                await self._writer.drain()
                return await answer
        except (OSError, TimeoutError) as error:
            self.close()
            raise ClusterUnavailable(Reason("no_answer", why=_error_text(error))) from error
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._in_flight.pop(correlation_id, None)

    def close(self) -> None:
        """Close the connection; calls without a response raise ClusterUnavailable."""
        self._receiver.cancel()
        self._writer.close()
        self._fail(ClusterUnavailable(Reason("connection_closed")))

    async def _receive(self) -> None:
        try:
            while True:
                (size,) = _I32.unpack(await self._reader.readexactly(4))
                self._budget.take(size)
                self.unfinished_bytes = size
                response = await self._reader.readexactly(size)
                self.unfinished_bytes = 0
                (correlation_id,) = _I32.unpack_from(response)
                answer = self._in_flight.get(correlation_id)
                if answer is not None and not answer.done():
                    answer.set_result(response)
        except OverLimit as error:
            self._writer.close()
            self._fail(error)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.unfinished_bytes = 0
            self._writer.close()
            self._fail(ClusterUnavailable(Reason("closed_by_broker", why=_error_text(error))))

    def _fail(self, error: GatewayError) -> None:
        for answer in self._in_flight.values():
            if not answer.done():
                answer.set_exception(error)


def _tls_error_text(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return Reason("certificate", why=error.verify_message.rstrip("."))
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return Reason("not_tls")
    return (error.reason or str(error)).replace("_", " ").lower()


def _error_text(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return Reason("timed_out")
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
