"""One background event loop per process, on which all asynchronous clients run.

Celery tasks and Django views run in threads; they submit coroutines and wait. The loop starts on
first use, so that each forked process has its own.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

from monitoring.error_reason import Reason
from monitoring.gateway.errors import ClusterUnavailable

T = TypeVar("T")
_THREADS_MAX = 64


@lru_cache(maxsize=1)
def _loop_of(process_id: int) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    # Names are resolved in its threads: a few names that no server answers must not delay others.
    loop.set_default_executor(ThreadPoolExecutor(_THREADS_MAX, thread_name_prefix="gateway"))
    threading.Thread(target=loop.run_forever, name=f"gateway-{process_id}", daemon=True).start()
    return loop


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start `coroutine` on the loop; returns its future."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop_of(os.getpid()))


def run(coroutine: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """Run a coroutine and return its result. After `timeout_s`, cancels it and raises
    TimeoutError."""
    future = submit(coroutine)
    try:
        return future.result(timeout_s)
    except TimeoutError:
        future.cancel()
        raise


def run_requests(coroutine: Coroutine[Any, Any, T], timeout_s: float) -> T:
    """As `run`, for requests to brokers: after `timeout_s` raises ClusterUnavailable."""
    try:
        return run(coroutine, timeout_s)
    except TimeoutError as error:
        raise ClusterUnavailable(Reason("brokers_late")) from error
