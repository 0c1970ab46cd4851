"""Writes a checkpoint of a log directory in a thread that does not append."""

import errno
import os
import time
from collections.abc import Callable
from itertools import islice
from threading import Lock
from typing import Final

from brokerd.log.checkpoints import Offsets, offset_entries, write_entries, zero_offsets
from brokerd.topic_partition import TopicPartition

PIECE: Final = 1_000
PAUSE_S: Final = 0.0002

Done = Callable[[OSError | None], None]


class CheckpointJob:
    """Replaces the checkpoint at `path`; `offsets` must not change any more. Made by
    `CheckpointFile.job`. `done` is called in the thread that uses the logs, with None when it is on
    disk, or with the error. `gone` are deleted logs; under `lock` more may be added until the file
    is replaced."""

    __slots__ = ("_done", "_error", "_is_written", "_lock", "_path", "gone", "offsets")

    def __init__(self, path: str, offsets: Offsets, done: Done, lock: Lock) -> None:
        self._path = path
        self.offsets = offsets
        self._done = done
        self._lock = lock
        self.gone: set[TopicPartition] = set()
        self._error: OSError | None = None
        self._is_written = False

    def run(self) -> None:
        try:
            write_entries(self._path, self._entries(), replace=self._put)
            self._is_written = True
        except OSError as error:
            error.filename = error.filename or self._path
            self._error = error

    def _put(self, temporary: str, path: str) -> None:
        with self._lock:
            if self.gone:
                zero_offsets(self.gone, temporary)
            os.replace(temporary, path)

    def _entries(self) -> list[str]:
        """Makes the entries in pieces, so that the thread that appends gets the interpreter in
        between."""
        entries: list[str] = []
        items = iter(self.offsets.items())
        while piece := dict(islice(items, PIECE)):
            entries += offset_entries(piece)
            if len(piece) == PIECE:
                time.sleep(PAUSE_S)
        return entries

    def finish(self) -> None:
        error = self._error
        if error is None and not self._is_written:  # `run` raised something else: no memory
            error = OSError(errno.ENOMEM, "it could not be written", self._path)
        self._done(error)
