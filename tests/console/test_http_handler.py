"""Requests over ASGI are handled by one thread each, which stays for later requests."""

import gzip
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.http import HttpRequest, HttpResponse

from console.http_handler import SyncHandler

_threads: list[int] = []


class Watch:
    """Middleware that notes where it runs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        _threads.append(threading.get_ident())
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        _threads.append(threading.get_ident())


async def _get(path: str, handler: SyncHandler | None = None) -> httpx.Response:
    transport = httpx.ASGITransport(handler or SyncHandler(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.get(path)


@pytest.mark.django_db(transaction=True)
async def test_all_of_a_request_runs_in_one_thread_that_is_not_the_event_loops(settings) -> None:
    watch = f"{__name__}.Watch"
    settings.MIDDLEWARE = [watch, *settings.MIDDLEWARE, watch]
    _threads.clear()
    answer = await _get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")
    assert len(_threads) == 4
    assert len(set(_threads)) == 1
    assert threading.get_ident() not in _threads


@pytest.mark.django_db(transaction=True)
async def test_a_request_starts_no_thread_if_one_is_free(monkeypatch) -> None:
    handler = SyncHandler()
    await _get("/healthz", handler)
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def watched_start(thread: threading.Thread) -> None:
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", watched_start)
    assert (await _get("/healthz", handler)).status_code == 200
    assert started == []


@pytest.mark.django_db(transaction=True)
async def test_the_next_request_gets_the_same_thread_and_its_connection(settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.Watch"]
    _threads.clear()
    handler = SyncHandler()
    for _ in range(2):
        assert (await _get("/healthz", handler)).status_code == 200
    assert len(_threads) == 4
    assert len(set(_threads)) == 1


@pytest.mark.django_db(transaction=True)
async def test_an_error_in_a_view_is_answered_with_500(settings, monkeypatch) -> None:
    settings.MIDDLEWARE = [f"{__name__}.Watch"]

    def fail(*_arguments: Any) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(Watch, "process_view", fail)
    answer = await _get("/healthz")
    assert answer.status_code == 500
    assert "Traceback" not in answer.text


def test_pages_are_compressed_for_browsers_that_can_unpack_them(sampled, client_of, admin):
    client = client_of(admin)
    plain = client.get("/c/local/topics")
    packed = client.get("/c/local/topics", headers={"accept-encoding": "gzip"})
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) / 3
    assert b"orders" in gzip.decompress(packed.content)
