"""Names of hosts that clients wrote, looked up in one thread of their own.

A name server may answer late or never. Then those wait who wrote names; the threads that do the
broker's own work do not.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class HostLookups:
    """One at a time, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "lookups")

    async def run(
        self, look_up: Callable[Arguments, Result], *args: Arguments.args, **_: Arguments.kwargs
    ) -> Result:
        """What `look_up` finds. One that is given up before its turn is not made."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, look_up, *args)

    def close(self) -> None:
        """Makes none of those that wait."""
        self._thread.shutdown(wait=False, cancel_futures=True)
