"""One HTTP request to a judged address, and as much of its answer as its caller has room for.

The answer is asked for as it is (`identity`) and refused where it comes encoded all the same: some
bytes of zstd or gzip can mean gigabytes. The bytes are counted as they arrive, and the caller's
time limit is on the whole, so that a server which drips its answer gains nothing.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from monitoring.egress import Target
from monitoring.reasons import Reason

# JSON's lists and numbers take up to ten times their bytes in memory.
JSON_VALUES_MAX = 2_000_000


class AnswerRefused(Exception):
    """An answer that is too large or in a form that is not taken; `reason` says which."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes


async def request(
    client: httpx.AsyncClient,
    method: str,
    target: Target,
    *,
    timeout_s: float,
    body_bytes_max: int,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    content: bytes | None = None,
) -> Answer:
    """Send a request. With `body_bytes_max` 0 nothing of the answer's body is read.

    Raises AnswerRefused, TimeoutError or httpx.HTTPError.
    """
    sent = {**(headers or {}), **target.headers, "Accept-Encoding": "identity"}
    asked = client.build_request(
        method,
        target.url,
        params=params,
        content=content,
        headers=sent,
        extensions=target.extensions,
    )
    async with asyncio.timeout(timeout_s):
        answer = await client.send(asked, stream=True)
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


def parsed(body: bytes) -> Any:
    """The JSON in `body`. Raises ValueError, AnswerRefused where it holds too many values."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) > JSON_VALUES_MAX:
        raise AnswerRefused(Reason("answer_values", max=JSON_VALUES_MAX))
    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
