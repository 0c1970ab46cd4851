"""Answers of a hostile server are limited in size, time and values."""

import httpx
import pytest

from monitoring.egress import bounded_http
from monitoring.egress.addresses import AllowedTarget
from monitoring.egress.bounded_http import AnswerRefused
from monitoring.egress.url_checks import check_url
from tests.support.hostile_http import MIB, answering, json_answer, memory_below, zstd_bomb

LIMIT_BYTES = MIB


async def ask(port, *, body_bytes_max=LIMIT_BYTES, timeout_s=60.0):
    target = check_url(f"http://127.0.0.1:{port}/", (AllowedTarget("127.0.0.1"),))
    async with httpx.AsyncClient(trust_env=False, timeout=None) as client:
        return await bounded_http.request(
            client, "GET", target, timeout_s=timeout_s, body_bytes_max=body_bytes_max
        )


async def test_a_request_asks_for_an_answer_without_encoding():
    with answering(json_answer(b'{"a": 1}')) as (port, heads):
        answer = await ask(port)
    assert (answer.status, bounded_http.parse_json(answer.body)) == (200, {"a": 1})
    assert b"accept-encoding: identity\r\n" in heads[0].lower()


async def test_an_answer_in_an_encoding_is_refused_and_not_decoded():
    with answering(zstd_bomb()) as (port, _), memory_below(16 * MIB):
        with pytest.raises(AnswerRefused, match="zstd"):
            await ask(port)


@pytest.mark.parametrize("head", [b"Content-Length: 99999999999", b"Connection: close"])
async def test_an_endless_answer_is_refused(head):
    with answering(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n", then=bytes(65536)) as (port, _):
        with memory_below(16 * MIB), pytest.raises(AnswerRefused, match="more than 1048576 bytes"):
            await ask(port)


async def test_the_body_is_not_read_with_a_limit_of_zero():
    with answering(zstd_bomb(), then=b"more") as (port, _), memory_below(16 * MIB):
        answer = await ask(port, body_bytes_max=0)
    assert (answer.status, answer.body) == (200, b"")


async def test_an_answer_byte_by_byte_ends_at_the_time_limit():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
    with answering(head, then=b"x") as (port, _):
        with pytest.raises(TimeoutError):
            await ask(port, timeout_s=0.3)


def test_json_of_too_many_values_is_refused_before_it_is_parsed():
    with memory_below(16 * MIB), pytest.raises(AnswerRefused, match="values"):
        bounded_http.parse_json(b"[" + b"[]," * 2_000_000 + b"0]")


def test_json_that_is_nested_too_deeply_raises_value_error():
    with pytest.raises(ValueError, match="nested"):
        bounded_http.parse_json(b"[" * 100_000)
