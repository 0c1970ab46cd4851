"""Log starts that clients moved, on disk before the answer says so.

A log start is otherwise checkpointed once a minute; after a crash deleted records would be back.
One write serves all who ask while the one before it is under way, since each writes the log starts
of a whole directory.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.context import storage_error

if TYPE_CHECKING:
    from brokerd.log.manager import LogManager


@dataclass(slots=True)
class _Directory:
    """The write that is next, where somebody waits for it, and whether one is under way."""

    is_busy: bool = False
    next: asyncio.Future[None] | None = None


class LogStartSaves:
    """See the module."""

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        self._directories: dict[str, _Directory] = {}

    def save(self, topic: str, partition: int) -> asyncio.Future[None]:
        """Done when the partition's log start is on disk, or KAFKA_STORAGE_ERROR. Others wait for
        the same: it is not to be cancelled. Raises KafkaError for a partition that has gone."""
        path = self._logs.directory_of(topic, partition)
        if path is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{topic}-{partition} has gone")
        directory = self._directories.setdefault(path, _Directory())
        done = directory.next
        if done is None:
            done = directory.next = asyncio.get_running_loop().create_future()
        if not directory.is_busy:
            self._begin(path, directory, done)
        return done

    def _begin(self, path: str, directory: _Directory, done: asyncio.Future[None]) -> None:
        directory.next = None
        directory.is_busy = True

        def finish(error: OSError | None) -> None:
            directory.is_busy = False
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(storage_error(error))
            if directory.next is not None:
                self._begin(path, directory, directory.next)

        self._logs.tasks.save_log_starts(path, finish)
