"""Closes all logs cleanly: afterwards every recovery point is the log end.

A few segments are synced one by one; for more, the file system writes everything at once
(syncfs), since a thousand fsyncs are a thousand commits of its journal.
"""

import os
from collections.abc import Iterable
from typing import Final

from brokerd.errors import KafkaError
from brokerd.log.io.linux import sync_filesystem
from brokerd.log.log_context import storage_error
from brokerd.log.unified_log import UnifiedLog

SYNCED_SINGLY_MAX: Final = 16


def close_all(logs: Iterable[UnifiedLog]) -> dict[str, str]:
    """Closes the logs; returns the log directories with a log that could not be, and the reason."""
    failures: dict[str, str] = {}
    dirty: dict[str, list[UnifiedLog]] = {}
    everything = list(logs)
    for log in everything:
        path = os.path.dirname(log.directory)
        try:
            if log.finish_writing():
                dirty.setdefault(path, []).append(log)
        except Exception as error:  # the other logs are still closed cleanly
            failures.setdefault(path, _reason(error))
    for path, unsynced in dirty.items():
        try:
            _sync(path, unsynced)
        except Exception as error:
            failures.setdefault(path, _reason(error))
    for log in everything:
        log.local.close_files()
    return failures


def _sync(path: str, logs: list[UnifiedLog]) -> None:
    unsynced = sum(
        len(log.local.segments.between(log.recovery_point, log.log_end_offset)) for log in logs
    )
    if unsynced > SYNCED_SINGLY_MAX:
        sync_filesystem(path)
        for log in logs:
            log.local.flushed_to(log.log_end_offset)
        return
    for log in logs:
        log.flush()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return storage_error(error).message
    if isinstance(error, KafkaError):
        return error.message
    return f"{type(error).__name__}: {error}"
