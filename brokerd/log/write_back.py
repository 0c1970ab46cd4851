"""Having appended data written to disk soon, so that it does not pile up in memory.

The system would begin when a tenth of the memory is dirty, and when it then cannot keep up it lets
writers wait: appends would take tens of milliseconds.
"""

from typing import TYPE_CHECKING

from brokerd.log.linux import begin_write_back

if TYPE_CHECKING:
    from brokerd.log.open_files import FileRange


class WriteBackJob:
    """Begin to write a pinned range to disk. Nothing waits for it, and nothing is promised."""

    __slots__ = ("_range",)

    def __init__(self, pinned: "FileRange") -> None:
        self._range = pinned

    def run(self) -> None:
        begin_write_back(self._range.fd, self._range.position_bytes, self._range.size_bytes)

    def finish(self) -> None:
        self._range.release()
