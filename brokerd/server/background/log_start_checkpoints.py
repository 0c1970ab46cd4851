"""Checkpoints log starts that DeleteRecords moved, before the request is answered: else deleted
records could be back after a crash. All requests that come during one write of a log directory
share the next."""

import asyncio
from dataclasses import dataclass

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.log_context import storage_error
from brokerd.log.log_manager import LogManager


@dataclass(slots=True)
class _Directory:
    """The future of the next write, if a request waits for it, and whether one is under way."""

    is_busy: bool = False
    next: asyncio.Future[None] | None = None


class LogStartCheckpoints:
    def __init__(self, logs: LogManager) -> None:
        self._logs = logs
        self._directories: dict[str, _Directory] = {}

    def save(self, topic: str, partition: int) -> asyncio.Future[None]:
        """Returns a future: done when the partition's log start is on disk, or KAFKA_STORAGE_ERROR.
        Requests share it: do not cancel it. Raises KafkaError for a deleted partition."""
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
