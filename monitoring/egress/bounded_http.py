"""Sends one HTTP request to a checked target (url_checks.py) and reads a response of limited size.

The request allows no content encoding (`identity`), and encoded responses are refused: a few bytes
of zstd or gzip can expand to gigabytes. The bytes are counted as they arrive, and the time-out
covers the whole request, also for a server that answers slowly byte by byte.
"""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx

from monitoring.egress.url_checks import CheckedTarget
from monitoring.error_reason import Reason

# Lists and numbers take up to ten times their JSON's bytes in memory.
JSON_VALUES_MAX = 2_000_000


class AnswerRefused(Exception):
    """The response is too large or has an encoding that is not accepted; `reason` says which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


def new_client(
    timeout_s: float | None, *, tls: ssl.SSLContext | None = None, **options: Any
) -> httpx.AsyncClient:
    """A client that follows no redirect and takes no proxy from the environment.

    `tls`: by default it trusts the certificates that httpx brings. `options`: as httpx takes them.
    """
    return httpx.AsyncClient(
        follow_redirects=False,
        trust_env=False,
        timeout=timeout_s,
        verify=tls or _default_tls(),
        **options,
    )


@cache
def _default_tls() -> ssl.SSLContext:
    # Shared, since loading the certificates takes 20 ms of CPU, a third of a page of segments.
    return httpx.create_ssl_context(trust_env=False)


async def request(
    client: httpx.AsyncClient,
    method: str,
    target: CheckedTarget,
    *,
    timeout_s: float,
    body_bytes_max: int,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    content: bytes | None = None,
) -> Answer:
    """Send a request. With `body_bytes_max` 0 the response's body is not read.

    Raises AnswerRefused, TimeoutError or httpx.HTTPError.
    """
    request_headers = {**(headers or {}), **target.headers, "Accept-Encoding": "identity"}
    http_request = client.build_request(
        method,
        target.url,
        params=params,
        content=content,
        headers=request_headers,
        extensions=target.extensions,
    )
    async with asyncio.timeout(timeout_s):
        answer = await client.send(http_request, stream=True)
        try:
            body = await _body(answer, body_bytes_max) if body_bytes_max else b""
        finally:
            await answer.aclose()
    return Answer(answer.status_code, body)


async def _body(answer: httpx.Response, bytes_max: int) -> bytes:
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise AnswerRefused(Reason("answer_encoding", encoding=repr(encoding[:40])))
    body = bytearray()
    async for part in answer.aiter_raw():
        body += part
        if len(body) > bytes_max:
            raise AnswerRefused(Reason("answer_bytes", max=bytes_max))
    return bytes(body)


def parse_json(body: bytes) -> Any:
    """Parse the JSON in `body`. Raises ValueError, or AnswerRefused if it has too many values."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) > JSON_VALUES_MAX:
        raise AnswerRefused(Reason("answer_values", max=JSON_VALUES_MAX))
    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
