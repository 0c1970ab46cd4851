"""The channel layer, mended: a receiver that was cancelled ends.

channels-redis 4.3 now and then loses the cancellation of a receiver that had just got the lock of
its connection: it went on asking Redis for ever, and whoever had cancelled it waited as long. The
task itself still knows that it was cancelled.
"""

import asyncio
from typing import Any

from channels_redis.core import RedisChannelLayer


class RedisLayer(RedisChannelLayer):  # type: ignore[misc]
    async def _brpop_with_clean(self, index: int, channel: str, timeout: int) -> Any:
        _end_if_cancelled()
        found = await super()._brpop_with_clean(index, channel, timeout)
        if found is None:
            _end_if_cancelled()
        return found


def _end_if_cancelled() -> None:
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
