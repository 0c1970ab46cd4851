"""Log starts that clients moved, on disk before the answer says so.

A log start is otherwise checkpointed once a minute; after a crash deleted records would be back.
One write serves all who ask while the one before it is under way, since each writes the log starts
of a whole directory.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.context import storage_error

if TYPE_CHECKING:
    from brokerd.log.manager import LogManager


@dataclass(slots=True)
class _Directory:
    """Who waits for the write that is next, and whether one is under way."""

    is_busy: bool = False
    waiting: list[asyncio.Future[None]] = field(default_factory=list)


class LogStartSaves:
    """See the module."""

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        self._directories: dict[str, _Directory] = {}

    async def save(self, topic: str, partition: int) -> None:
        """Returns when the partition's log start is on disk. Raises KAFKA_STORAGE_ERROR."""
        path = self._logs.directory_of(topic, partition)
        if path is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{topic}-{partition} has gone")
        directory = self._directories.setdefault(path, _Directory())
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        directory.waiting.append(done)
        if not directory.is_busy:
            self._begin(path, directory)
        await done

    def _begin(self, path: str, directory: _Directory) -> None:
        served, directory.waiting = directory.waiting, []
        directory.is_busy = True

        def finish(error: OSError | None) -> None:
            directory.is_busy = False
            for done in served:
                if done.cancelled():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(storage_error(error))
            if directory.waiting:
                self._begin(path, directory)

        self._logs.duties.save_log_starts(path, finish)
