"""When Python's collector of cycles runs: not while very many objects are made that stay."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

REST_MAX_S = 10.0
_resting: set[object] = set()
_wakes: list[asyncio.TimerHandle] = []


def keep_uncollected() -> None:
    """Much was made that stays: from now on the collector does not walk it again and again."""
    gc.freeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """While very many objects are made that are no garbage: Python's collector of cycles rests,
    which walks them all again and again while nobody is served. Each REST_MAX_S it runs all the
    same."""
    holder = object()
    if not _resting:
        gc.disable()
        _wakes[:] = [asyncio.get_running_loop().call_later(REST_MAX_S, _wake)]
    _resting.add(holder)
    try:
        yield
    finally:
        _resting.discard(holder)
        if not _resting:
            _wake()


def _wake() -> None:
    for timer in _wakes:
        timer.cancel()
    _resting.clear()
    gc.enable()
