"""Streams the results of a running search to the browser; the search ends with the response."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

from django.http import StreamingHttpResponse
from django.utils import translation

from monitoring.records.search_limits import SEARCHES_MAX
from monitoring.records.search_process_client import RunningSearch

_threads = ThreadPoolExecutor(SEARCHES_MAX, "search")


def disable_buffering(response: StreamingHttpResponse) -> None:
    """Have each chunk sent at once, and stored nowhere."""
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # nginx does not buffer
    response["Content-Encoding"] = "identity"  # GZipMiddleware does not compress


async def stream_chunks(running: RunningSearch, chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The chunks, each made in a thread; stops the search at the end, also if the browser closes
    the response."""
    language = translation.get_language()

    def next_chunk() -> bytes:
        with translation.override(language):  # a thread has no language of its own
            return next(chunks, b"")

    try:
        while chunk := await asyncio.get_running_loop().run_in_executor(_threads, next_chunk):
            yield chunk
    finally:
        await asyncio.shield(asyncio.to_thread(running.stop))
