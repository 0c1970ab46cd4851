"""Writing a log directory's checkpoint outside the thread that appends."""

from collections.abc import Callable

from brokerd.log.checkpoints import Offsets, offset_entries, write_entries

Done = Callable[[OSError | None], None]


class CheckpointJob:
    """Replace the checkpoint at `path`; `offsets` must not change any more.

    `done` is told, where logs are used, that it is on disk, or why it is not.
    """

    __slots__ = ("_done", "_error", "_offsets", "_path")

    def __init__(self, path: str, offsets: Offsets, done: Done | None = None) -> None:
        self._path = path
        self._offsets = offsets
        self._done = done
        self._error: OSError | None = None

    def run(self) -> None:
        try:
            write_entries(self._path, offset_entries(self._offsets))
        except OSError as error:
            error.filename = error.filename or self._path
            self._error = error

    def finish(self) -> None:
        if self._done is not None:
            self._done(self._error)
