"""The admin port's connections, kept open from tick to tick, may close at any moment."""

import asyncio
import threading

import pytest

from monitoring.gateway import counters
from monitoring.gateway.admin_urls import AdminUrls
from monitoring.gateway.counters import CounterSource
from monitoring.gateway.errors import ClusterUnavailable, Refused
from tests.support.hostile_http import MIB, answering, memory_below, zstd_bomb

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


async def test_a_kept_connection_that_closes_as_it_is_used_again_costs_no_figure():
    served = 0

    async def close_at_the_second_request(reader, writer):
        nonlocal served
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    server = await asyncio.start_server(close_at_the_second_request, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    source = CounterSource(AdminUrls({"1": f"http://127.0.0.1:{port}"}, "token", ("127.0.0.1",)))
    try:
        for _ in range(2):
            assert await source._get(1, "/v1/broker", timeout_s=5) == {}
        assert served == 2
    finally:
        await source.close()
        server.close()


async def test_a_look_up_that_hangs_costs_no_more_than_the_time_limit(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(counters, "check_url", lambda *_: answered.wait(30))
    source = CounterSource(AdminUrls({"1": "http://broker.example:9192"}, "token"))
    try:
        async with asyncio.timeout(10):
            with pytest.raises(ClusterUnavailable, match="timed out"):
                await source._get(1, "/v1/broker", timeout_s=0.1)
    finally:
        answered.set()
        await source.close()


async def test_an_answer_that_would_fill_the_memory_is_not_decoded():
    with answering(zstd_bomb()) as (port, _), memory_below(64 * MIB):
        urls = AdminUrls({"1": f"http://127.0.0.1:{port}"}, "token", ("127.0.0.1",))
        source = CounterSource(urls)
        try:
            with pytest.raises(Refused, match="zstd"):
                await source._get(1, "/v1/broker", timeout_s=60)
        finally:
            await source.close()
