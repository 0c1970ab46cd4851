"""The admin port's HTTP: who may ask, and what it makes of bad requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.admin_http import http_server
from brokerd.server.admin_http.http_server import (
    CONNECTIONS_MAX,
    HEAD_BYTES_MAX,
    AdminServer,
    Answer,
    Query,
    json_answer,
)

TOKEN = "a-token-of-some-length"
GOOD = {"Authorization": f"Bearer {TOKEN}"}


def echo(query: Query) -> Answer:
    return json_answer({"name": query.text("name"), "n": query.number("n", 3)})


async def later(query: Query) -> Answer:
    await asyncio.sleep(0)
    return Answer(200, "later", "text/plain")


async def lines() -> AsyncIterator[str]:
    while True:
        yield "x" * (1 << 16)


def endless(query: Query) -> Answer:
    return Answer(200, lines(), "text/plain")


async def one_line() -> AsyncIterator[str]:
    yield "x"
    await asyncio.Event().wait()


def slow(query: Query) -> Answer:
    return Answer(200, one_line(), "text/plain")


def broken(query: Query) -> Answer:
    raise RuntimeError("a bug")


def unknown(query: Query) -> Answer:
    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "there is no such topic")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    pages = {
        "/healthz": lambda query: json_answer({}),
        "/echo": echo,
        "/later": later,
        "/broken": broken,
        "/endless": endless,
        "/slow": slow,
        "/unknown": unknown,
    }
    server = AdminServer(pages, TOKEN)
    try:
        yield await server.start(0)
    finally:
        server.close()


async def get(port: int, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(f"http://127.0.0.1:{port}{path}", headers=headers or {})


async def raw(port: int, data: bytes) -> bytes:
    """The first line that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        async with asyncio.timeout(10):
            return await reader.readline()
    finally:
        writer.close()


async def test_health_is_open_and_the_rest_wants_the_token(port: int) -> None:
    assert (await get(port, "/healthz")).status_code == 200
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        answer = await get(port, "/echo?name=x", headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    assert (await get(port, "/echo?name=x", GOOD)).json() == {"name": "x", "n": 3}


async def test_pages_may_take_their_time(port: int) -> None:
    assert (await get(port, "/later", GOOD)).text == "later"


async def test_bad_parameters_and_unknown_things_are_explained(port: int) -> None:
    missing = await get(port, "/echo", GOOD)
    assert (missing.status_code, missing.json()) == (
        400,
        {"error": "the parameter name is missing"},
    )
    assert (await get(port, "/echo?name=x&n=ten", GOOD)).status_code == 400
    assert (await get(port, "/unknown", GOOD)).status_code == 404
    assert (await get(port, "/nowhere", GOOD)).status_code == 404


async def test_a_bug_is_answered_without_its_traceback(port: int) -> None:
    answer = await get(port, "/broken", GOOD)
    assert answer.status_code == 500
    assert "a bug" not in answer.text


async def test_one_connection_serves_several_requests(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=GOOD) as client:
        for _ in range(3):
            assert (await client.get("/echo?name=x")).status_code == 200


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"POST /healthz HTTP/1.1\r\n\r\n", b"405"),
        (b"GET /healthz HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"400"),
        (b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET //[ HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n", b"431"),
    ],
)
async def test_what_is_not_served_is_refused(
    port: int, request_bytes: bytes, status: bytes
) -> None:
    assert (await raw(port, request_bytes)).split()[1] == status


DEADLINE_S = 60
HEALTH = b"GET /healthz HTTP/1.1\r\n\r\n"
ASKED = f"GET /echo?name=x HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
ENDLESS = ASKED.replace(b"/echo", b"/endless")
SLOW = ASKED.replace(b"/echo", b"/slow")


class Client:
    """A connection that sends what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, data: bytes = HEALTH) -> int:
        """The status of the answer."""
        self._writer.write(data)
        async with asyncio.timeout(DEADLINE_S):
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
            await self._reader.readexactly(int(length))
        return int(head.split()[1])

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def end(self) -> None:
        """Waits until the server has ended it."""
        async with asyncio.timeout(DEADLINE_S):
            with contextlib.suppress(ConnectionError):
                while await self._reader.read(1 << 16):
                    pass

    async def begins_to_answer(self) -> None:
        async with asyncio.timeout(DEADLINE_S):
            await self._reader.readexactly(1)

    async def is_ended_unread(self) -> None:
        """Waits until the server has ended it, though nothing is read."""
        async with asyncio.timeout(DEADLINE_S):
            with contextlib.suppress(ConnectionError):
                while True:
                    await self.send(b"x")
                    await asyncio.sleep(0.05)

    async def rest(self) -> bytes:
        """All that comes until the server has ended it."""
        async with asyncio.timeout(DEADLINE_S):
            received = b""
            with contextlib.suppress(ConnectionError):
                while more := await self._reader.read(1 << 16):
                    received += more
            return received

    def close(self) -> None:
        self._writer.close()


Connect = Callable[[], Awaitable[Client]]


@pytest.fixture
async def connect(port: int) -> AsyncIterator[Connect]:
    clients: list[Client] = []

    async def connected() -> Client:
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", port)))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


async def test_idle_connections_keep_nobody_out_and_the_oldest_ends_for_another(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", 10 * DEADLINE_S)
    known = await connect()
    assert await known.ask(ASKED) == 200
    silent = [await connect() for _ in range(CONNECTIONS_MAX)]
    begun = await connect()
    await begun.send(b"GET /healthz HTTP/1.1\r\n")
    for _ in range(CONNECTIONS_MAX):
        assert await (await connect()).ask() == 200
    for each in silent:
        await each.end()
    await begun.end()
    assert await known.ask(ASKED) == 200, "who has shown the token goes last"


async def test_a_client_that_reads_no_answers_ends_for_another(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", 10 * DEADLINE_S)
    deaf = await connect()
    await deaf.send(ENDLESS)
    await deaf.begins_to_answer()
    assert await (await connect()).ask() == 200
    await deaf.end()


async def test_who_waits_for_a_first_turn_keeps_its_place_while_others_wait_for_one(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def next_turn(*_: object) -> None:
        waits.set()
        await goes_on.wait()

    monkeypatch.setattr(http_server, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(http_server._Turns, "next", next_turn)
    first = asyncio.ensure_future((await connect()).ask())
    async with asyncio.timeout(DEADLINE_S):
        await waits.wait()
    second = asyncio.ensure_future((await connect()).ask())
    await asyncio.sleep(0.2)
    goes_on.set()
    assert await asyncio.gather(first, second) == [200, 200]


async def test_of_those_that_wait_for_a_place_there_is_a_bound(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(http_server, "WAITING_MAX", 1)
    served = await connect()
    await served.send(SLOW)
    await served.begins_to_answer()
    await connect()
    assert await (await connect()).rest() == b""


async def test_a_client_that_reads_no_answer_ends(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "IDLE_TIMEOUT_S", 10 * DEADLINE_S)
    deaf = await connect()
    assert await deaf.ask(ASKED) == 200
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", 0.2)
    await deaf.send(ENDLESS)
    await deaf.begins_to_answer()
    await deaf.is_ended_unread()


async def test_who_does_not_wait_for_an_answer_gets_one_and_is_closed(connect: Connect) -> None:
    for asked in (HEALTH, ASKED):
        hasty = await connect()
        await hasty.send(asked * 3)
        assert (await hasty.rest()).count(b"HTTP/1.1 200") == 1


async def test_requests_without_the_token_wait_for_a_turn_and_those_with_it_do_not(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = await connect()
    assert await known.ask(ASKED) == 200
    monkeypatch.setattr(http_server, "TURN_INTERVAL_S", 10 * DEADLINE_S)
    assert await (await connect()).ask() == 200
    waiting = [asyncio.ensure_future((await connect()).ask()) for _ in range(3)]
    for _ in range(20):
        assert await known.ask(ASKED) == 200
    assert not any(each.done() for each in waiting)
    for each in waiting:
        each.cancel()


async def test_who_waits_for_a_turn_once_more_ends_for_another(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "CONNECTIONS_MAX", 1)
    monkeypatch.setattr(http_server, "TURN_INTERVAL_S", 10 * DEADLINE_S)
    first = await connect()
    assert await first.ask() == 200
    await first.send(HEALTH)
    await (await connect()).send(HEALTH)
    assert await first.rest() == b""


async def test_a_head_that_does_not_come_to_its_end_ends_its_connection_alone(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_before, second = await connect(), await connect()
    assert await asked_before.ask() == 200
    assert await second.ask() == 200
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", 0.2)
    silent, begun = await connect(), await connect()
    await begun.send(b"GET /healthz HTTP/1.1\r\nX: ")
    await second.send(b"G")
    for each in (silent, begun, second):
        await each.end()
    monkeypatch.setattr(http_server, "HEAD_TIMEOUT_S", DEADLINE_S)
    assert await asked_before.ask() == 200, "it may be idle between requests"
