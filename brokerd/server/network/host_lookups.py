"""Names of hosts that clients wrote, looked up in one thread of their own: a name server may never
answer, and the threads for the broker's own work must stay free."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class HostLookups:
    """Does one look-up at a time, in the order of the calls."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "lookups")

    async def run(
        self, look_up: Callable[Arguments, Result], *args: Arguments.args, **_: Arguments.kwargs
    ) -> Result:
        """Calls `look_up` in the thread. It is not called if this was cancelled before its turn."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, look_up, *args)

    def close(self) -> None:
        """Cancels the look-ups that have not begun."""
        self._thread.shutdown(wait=False, cancel_futures=True)
