"""One background event loop per process, which owns every connection of the hot reads.

Celery tasks and Django views are plain threads; they hand coroutines over and wait. Started on
first use, so a process that was forked before makes its own.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=1)
def _loop_of(process_id: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name=f"gateway-{process_id}", daemon=True).start()
    return loop


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start `coroutine` on the loop; its result or error is in the future."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop_of(os.getpid()))


def run(coroutine: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """The coroutine's result. Raises TimeoutError, and cancels it, after `timeout_s`."""
    future = submit(coroutine)
    try:
        return future.result(timeout_s)
    except TimeoutError:
        future.cancel()
        raise
