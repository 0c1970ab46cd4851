"""Sends what a running search makes to the browser; the search ends with the response."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

from django.http import StreamingHttpResponse
from django.utils import translation

from monitoring.records.running_search import SEARCHES_MAX, RunningSearch

_threads = ThreadPoolExecutor(SEARCHES_MAX, "search")


def send_at_once(response: StreamingHttpResponse) -> None:
    """Each piece is sent when it is made, and stored nowhere."""
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # nginx does not buffer
    response["Content-Encoding"] = "identity"  # GZipMiddleware does not compress


async def streamed(running: RunningSearch, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces, each made in a thread; stops the search at the end, also if the browser closes
    the response."""
    language = translation.get_language()

    def next_piece() -> bytes:
        with translation.override(language):  # a thread has no language of its own
            return next(pieces, b"")

    try:
        while piece := await asyncio.get_running_loop().run_in_executor(_threads, next_piece):
            yield piece
    finally:
        await asyncio.shield(asyncio.to_thread(running.stop))
