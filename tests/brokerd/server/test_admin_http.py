"""The admin port's HTTP: who may ask, and what it makes of bad requests."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.server.admin.http import HEAD_BYTES_MAX, AdminServer, Answer, Query, json_answer

TOKEN = "a-token-of-some-length"
GOOD = {"Authorization": f"Bearer {TOKEN}"}


def echo(query: Query) -> Answer:
    return json_answer({"name": query.text("name"), "n": query.number("n", 3)})


async def later(query: Query) -> Answer:
    await asyncio.sleep(0)
    return Answer(200, "later", "text/plain")


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
