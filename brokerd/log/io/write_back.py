"""Having appended data written to disk in time, so that it does not pile up in memory.

The system begins when a tenth of the memory is dirty, and lets writers wait when it cannot keep up.
Here it is made to begin at half of that; not earlier, since it takes an eighth of the CPU time.
"""

from typing import TYPE_CHECKING, Final

from brokerd.log.io import linux
from brokerd.log.io.disk_jobs import DiskJob

if TYPE_CHECKING:
    from brokerd.log.segments.segment import Segment

DIRTY_SHARE: Final = 0.05
"""Of the memory that could be had, half of the system's vm.dirty_background_ratio."""


class WriteBackJob(DiskJob):
    """Begins to write what was appended, if it is time; errors do not matter."""

    def __init__(self, segment: "Segment") -> None:
        start = segment.write_back_from
        self._segment = segment
        self._end = segment.size_bytes
        self._range = segment.file.pin(start, self._end - start)
        self._is_begun = False

    def work(self) -> None:
        if linux.dirty_share() > DIRTY_SHARE:
            pinned = self._range
            linux.begin_write_back(pinned.fd, pinned.position_bytes, pinned.size_bytes)
            self._is_begun = True

    def finish(self) -> None:
        self._range.release()
        if self._is_begun:
            segment = self._segment
            segment.write_back_from = min(max(segment.write_back_from, self._end),
                                          segment.size_bytes)  # fmt: skip
