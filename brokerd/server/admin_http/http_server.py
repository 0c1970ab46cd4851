"""A small HTTP/1.1 server for GET on 127.0.0.1: enough for probes, a scraper and the console.

Everything has limits: size of the head, connections, the time a client may take. Bodies are
refused.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from brokerd.errors import ErrorCode, KafkaError
from brokerd.security.admin_token import is_authorized

logger = logging.getLogger(__name__)

HEAD_BYTES_MAX = 16 * 1024
CONNECTIONS_MAX = 64
"""Further ones are closed."""
IDLE_TIMEOUT_S = 30
"""For the head of a request, from the end of the last answer on."""
SEND_TIMEOUT_S = 5
"""For a part of an answer that a client does not take."""
OPEN_PATHS = ("/healthz", "/readyz")
_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found",
    405: "Method Not Allowed", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its body is text, or pieces of text that are made while they are sent."""

    status: int
    body: str | AsyncIterator[str]
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Query:
    """The query parameters of a request."""

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


Page = Callable[[Query], Answer | Awaitable[Answer]]


def json_answer(value: object, status: int = 200) -> Answer:
    """A JSON response."""
    return Answer(status, json.dumps(value, separators=(",", ":")))


def problem(status: int, message: str) -> Answer:
    """An error response: one sentence that says what is wrong."""
    return json_answer({"error": message}, status)


class AdminServer:
    """Serves a table of pages by path."""

    def __init__(self, pages: dict[str, Page], token: str) -> None:
        self._pages = pages
        self._token = token
        self._server: asyncio.Server | None = None
        self._open = 0

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
        self._open += 1
        writer.transport.set_write_buffer_limits(0)  # what was sent has left when `drain` returns
        try:
            if self._open <= CONNECTIONS_MAX:
                while await self._serve_one(reader, writer):
                    await asyncio.sleep(0)  # a client that sends ahead does not hold the loop
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # If the loop ends, asyncio's callback would log a cancelled connection as an error.
            writer.transport.abort()
        finally:
            self._open -= 1
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers the next request; whether the connection stays open."""
        try:
            async with asyncio.timeout(IDLE_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            await _send(writer, problem(431, "the request head is too large"), False)
            return False
        keep, answer = await self._answer(head.removesuffix(b"\r\n\r\n").decode("latin-1"))
        await _send(writer, answer, keep)
        return keep

    async def _answer(self, head: str) -> tuple[bool, Answer]:
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


async def _send(writer: asyncio.StreamWriter, answer: Answer, keep: bool) -> None:
    """Sends the whole answer; one in pieces in chunks, if the connection stays open. If a piece
    fails, the connection ends in the middle, which the client can detect."""
    if isinstance(answer.body, str):
        body = answer.body.encode()
        await _write(writer, _head(answer, f"Content-Length: {len(body)}\r\n", keep) + body)
        return
    await _write(writer, _head(answer, "Transfer-Encoding: chunked\r\n" if keep else "", keep))
    try:
        async for piece in answer.body:
            data = piece.encode()
            await _write(writer, b"%x\r\n%b\r\n" % (len(data), data) if keep else data)
    except (OSError, TimeoutError):
        raise
    except Exception as error:
        logger.exception("an admin page failed in its middle")
        raise ConnectionAbortedError from error
    if keep:
        await _write(writer, b"0\r\n\r\n")


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    async with asyncio.timeout(SEND_TIMEOUT_S):
        await writer.drain()


def _head(answer: Answer, length: str, keep: bool) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unknown')}\r\n"
        f"Content-Type: {answer.content_type}\r\n{length}"
        f"Cache-Control: no-store\r\nConnection: {'keep-alive' if keep else 'close'}\r\n"
    )
    if answer.status == 401:
        head += "WWW-Authenticate: Bearer\r\n"
    return head.encode() + b"\r\n"
