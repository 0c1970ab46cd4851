"""Writing a log directory's checkpoint outside the thread that appends."""

import errno
import time
from collections.abc import Callable
from itertools import islice
from typing import Final

from brokerd.log.checkpoints import Offsets, offset_entries, write_entries

PIECE: Final = 1_000
PAUSE_S: Final = 0.0002

Done = Callable[[OSError | None], None]


class CheckpointJob:
    """Replace the checkpoint at `path`; `offsets` must not change any more.

    `done` is told, where logs are used, that it is on disk, or why it is not.
    """

    __slots__ = ("_done", "_error", "_is_written", "_offsets", "_path")

    def __init__(self, path: str, offsets: Offsets, done: Done | None = None) -> None:
        self._path = path
        self._offsets = offsets
        self._done = done
        self._error: OSError | None = None
        self._is_written = False

    def run(self) -> None:
        try:
            write_entries(self._path, self._entries())
            self._is_written = True
        except OSError as error:
            error.filename = error.filename or self._path
            self._error = error

    def _entries(self) -> list[str]:
        """A piece at a time, so that the thread which appends gets the interpreter in between."""
        entries: list[str] = []
        items = iter(self._offsets.items())
        while piece := dict(islice(items, PIECE)):
            entries += offset_entries(piece)
            if len(piece) == PIECE:
                time.sleep(PAUSE_S)
        return entries

    def finish(self) -> None:
        error = self._error
        if error is None and not self._is_written:  # `run` raised something else: no memory
            error = OSError(errno.ENOMEM, "it could not be written", self._path)
        if self._done is not None:
            self._done(error)
