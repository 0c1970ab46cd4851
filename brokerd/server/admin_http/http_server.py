"""A small HTTP/1.1 server for GET on 127.0.0.1: enough for probes, a scraper and the console.

The head, the connections and the time a client may take are limited. Bodies and pipelined requests
are refused. Requests without the token are begun one after another, TURN_INTERVAL_S apart (their
turns), so that they cannot slow down the broker's own clients.

If no more connections may be open, a new one ends another: one whose client has to send or to read,
or one without the token that was answered already and waits for its next turn. Those without the
token go first, of these the one that has waited longest. If there is none, the new one waits. So
nobody keeps others out by holding connections open.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from brokerd.errors import ErrorCode, KafkaError
from brokerd.security.admin_token import is_authorized

logger = logging.getLogger(__name__)

HEAD_BYTES_MAX = 16 * 1024
CONNECTIONS_MAX = 64
WAITING_MAX = 64
"""So many more may wait for a place; others are closed."""
IDLE_TIMEOUT_S = 30
"""Between requests."""
HEAD_TIMEOUT_S = 5
"""For a head that has begun, for the first of a connection, and for what a client does not take of
an answer."""
TURN_INTERVAL_S = 0.005
"""Between two requests of connections that have not shown the token, all of them together."""
OPEN_PATHS = ("/healthz", "/readyz")
_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its body is text, or pieces of text that are made while they are sent."""

    status: int
    body: str | AsyncIterator[str]
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Query:
    values: dict[str, list[str]]

    def text(self, name: str) -> str:
        """A required parameter."""
        if name not in self.values:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"the parameter {name} is missing")
        return self.values[name][-1]

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number; required without a default."""
        if default is not None and name not in self.values:
            return default
        text = self.text(name)
        try:
            return int(text)
        except ValueError:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"the parameter {name} is no whole number: {text!r}"
            ) from None

    def limit(self, default: int, most: int) -> int:
        """The parameter `limit`, between 0 and `most`."""
        return min(max(self.number("limit", default), 0), most)


Page = Callable[[Query], Answer | Awaitable[Answer]]


def json_answer(value: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value, separators=(",", ":")))


def problem(status: int, message: str) -> Answer:
    """An error response: one sentence that says what is wrong."""
    return json_answer({"error": message}, status)


class _Turns:
    """Lets requests without the token begin one after another, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._next_s = 0.0

    async def next(self, is_gone: Callable[[], bool]) -> None:
        """Waits for the turn of a connection; ConnectionAbortedError if it `is_gone` by then."""
        now_s = asyncio.get_running_loop().time
        async with self._lock:
            if not is_gone():
                await asyncio.sleep(self._next_s - now_s())
            if is_gone():
                raise ConnectionAbortedError
            self._next_s = now_s() + TURN_INTERVAL_S


class _Connection:
    """One client, and since when the server waits for it: None while it is being served."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(0)  # what was sent has left when `drain` returns
        self._has_asked = self._was_answered = False
        self.has_sent_ahead = False
        """Whether more came behind the last head."""
        self.is_trusted = False
        """Whether it has shown the token."""
        self.waits_since_s: float | None = None

    def drop(self) -> None:
        self._writer.transport.abort()

    async def head(self) -> bytes:
        """The next request's. LimitOverrunError if it is too large."""
        with self._waiting():
            async with asyncio.timeout(IDLE_TIMEOUT_S if self._has_asked else HEAD_TIMEOUT_S):
                received = await self._receive(b"")
            self._has_asked = True
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                while _HEAD_END not in received:
                    received = await self._receive(received)
        head, _, rest = received.partition(_HEAD_END)
        self.has_sent_ahead = bool(rest)
        return head

    async def _receive(self, before: bytes) -> bytes:
        """What came before, and something more."""
        if len(before) >= HEAD_BYTES_MAX:
            raise asyncio.LimitOverrunError("no end of the head", len(before))
        more = await self._reader.read(HEAD_BYTES_MAX - len(before))
        if not more:
            raise asyncio.IncompleteReadError(before, None)
        return before + more

    async def turn(self, turns: _Turns) -> None:
        """Waits for its turn; one that was answered before may have to end for another client."""
        with self._waiting() if self._was_answered else nullcontext():
            await turns.next(self.is_gone)

    def is_gone(self) -> bool:
        """Whether it was dropped, or the client closed it."""
        return self._writer.is_closing()

    async def send(self, answer: Answer, keep: bool) -> None:
        """Sends the whole answer. If a piece of it fails, the connection ends in its middle."""
        self._was_answered = True
        if isinstance(answer.body, str):
            body = answer.body.encode()
            length = f"Content-Length: {len(body)}\r\n"
            await self._write(_head(answer, length, keep) + body)
            return
        try:
            await self._stream(answer, answer.body, keep)
        except (OSError, TimeoutError, asyncio.CancelledError):
            raise
        except Exception as error:
            logger.exception("an admin page failed in its middle")
            raise ConnectionAbortedError from error

    async def _stream(self, answer: Answer, pieces: AsyncIterator[str], keep: bool) -> None:
        """Sends in chunks if the connection stays open; else its end is the end of the body."""
        await self._write(_head(answer, "Transfer-Encoding: chunked\r\n" if keep else "", keep))
        async for piece in pieces:
            data = piece.encode()
            await self._write(b"%x\r\n%b\r\n" % (len(data), data) if keep else data)
        if keep:
            await self._write(b"0\r\n\r\n")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        with self._waiting():
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                await self._writer.drain()

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self.waits_since_s = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            self.waits_since_s = None


class AdminServer:
    """Serves a table of pages by path."""

    def __init__(self, pages: dict[str, Page], token: str) -> None:
        self._pages = pages
        self._token = token
        self._server: asyncio.Server | None = None
        self._open: dict[_Connection, None] = {}
        self._turns = _Turns()
        self._door = asyncio.Lock()
        self._waiting = 0

    async def start(self, port: int) -> int:
        """Listens on 127.0.0.1; the port really bound. OSError if it is taken."""
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=HEAD_BYTES_MAX
        )
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(reader, writer)
        try:
            if self._waiting < WAITING_MAX:
                await self._enter(connection)
                await self._converse(connection)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            connection.drop()
        except asyncio.CancelledError:
            # The loop ends; asyncio's callback would log a cancelled connection as an error.
            connection.drop()
        finally:
            self._open.pop(connection, None)
            writer.close()

    async def _enter(self, connection: _Connection) -> None:
        """Waits for room for the connection. ConnectionAbortedError if it is gone by then."""
        self._waiting += 1
        try:
            async with self._door:
                while not connection.is_gone() and not self._make_room():
                    await asyncio.sleep(TURN_INTERVAL_S)
                if connection.is_gone():
                    raise ConnectionAbortedError
                self._open[connection] = None
        finally:
            self._waiting -= 1

    def _make_room(self) -> bool:
        """Whether there is room for one more connection, if necessary by ending another."""
        if len(self._open) < CONNECTIONS_MAX:
            return True
        waiting = [each for each in self._open if each.waits_since_s is not None]
        if not waiting:
            return False
        dropped = min(waiting, key=lambda each: (each.is_trusted, each.waits_since_s))
        del self._open[dropped]
        dropped.drop()
        return True

    async def _converse(self, connection: _Connection) -> None:
        keep = True
        while keep:
            try:
                head = await connection.head()
            except asyncio.LimitOverrunError:
                await connection.send(problem(431, "the request head is too large"), False)
                return
            if not connection.is_trusted:
                await connection.turn(self._turns)
            keep, answer = await self._answer(connection, head.decode("latin-1"))
            keep = keep and not connection.has_sent_ahead
            await connection.send(answer, keep)

    async def _answer(self, connection: _Connection, head: str) -> tuple[bool, Answer]:
        """The answer to a request, and whether the connection stays open."""
        lines = head.split("\r\n")
        parts = lines[0].split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            return False, problem(400, "this is no HTTP/1.1 request")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            return False, problem(400, "a request body is not accepted")
        if parts[0] != "GET":
            return False, problem(405, "only GET is served")
        keep = headers.get("connection", "").lower() != "close" and parts[2] == "HTTP/1.1"
        is_trusted = is_authorized(headers.get("authorization"), self._token)
        connection.is_trusted |= is_trusted
        return keep, await self._page(parts[1], is_trusted)

    async def _page(self, target: str, is_trusted: bool) -> Answer:
        try:
            url = urlsplit(target)
        except ValueError:
            return problem(400, "the address asked for makes no sense")
        if url.path not in OPEN_PATHS and not is_trusted:
            return problem(401, "an Authorization header with the broker's bearer token is needed")
        page = self._pages.get(url.path)
        if page is None:
            return problem(404, f"there is no {url.path}")
        try:
            answer = page(Query(parse_qs(url.query)))
            return answer if isinstance(answer, Answer) else await answer
        except KafkaError as error:
            status = 404 if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else 400
            return problem(status, str(error))
        except Exception:
            logger.exception("admin page %s failed", url.path)
            return problem(500, "unexpected error in the broker, see its log")


def _head(answer: Answer, length: str, keep: bool) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}\r\n"
        f"Content-Type: {answer.content_type}\r\n{length}"
        f"Cache-Control: no-store\r\nConnection: {'keep-alive' if keep else 'close'}\r\n"
    )
    if answer.status == 401:
        head += "WWW-Authenticate: Bearer\r\n"
    return head.encode() + b"\r\n"
