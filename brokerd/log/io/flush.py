"""Making what was written durable, outside the thread that appends."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from brokerd.log import file_names
from brokerd.log.io.disk_jobs import DiskJob
from brokerd.log.io.files import sync_path

if TYPE_CHECKING:
    from brokerd.log.io.open_files import FileRange
    from brokerd.log.local_log import LocalLog

SEGMENTS_MAX: Final = 64
"""One job syncs so many segments, whose files it pins; then jobs of other logs have their turn."""

Done = Callable[[], None]


class Flushes:
    """The syncs of one log: one job at a time. What is asked for meanwhile is done together by the
    next; else the jobs of a log that rolls faster than the disk syncs would pile up."""

    __slots__ = ("_is_out", "_submit", "_waiting", "_wanted")

    def __init__(self, submit: Callable[[DiskJob], None]) -> None:
        self._submit = submit
        self._is_out = False
        self._wanted = 0
        self._waiting: list[Done] = []

    def begin(self, log: "LocalLog", up_to: int, done: Done) -> None:
        """Have all below `up_to` synced; `done` is called where the log is used, however it ended.
        Raises OSError; then it is not called."""
        if self._is_out:
            self._want(up_to, [done])
        else:
            self._send(log, up_to, [done])

    def _want(self, up_to: int, done: list[Done]) -> None:
        self._wanted = max(self._wanted, up_to)
        self._waiting += done

    def _send(self, log: "LocalLog", up_to: int, done: list[Done]) -> None:
        segments = log.segments.between(log.recovery_point, up_to)
        part = segments[SEGMENTS_MAX].base_offset if len(segments) > SEGMENTS_MAX else up_to
        ended = partial(self._ended, log, part, [] if part < up_to else done)
        job = FlushJob(log, part, ended)
        if part < up_to:
            self._want(up_to, done)
        self._is_out = True
        self._submit(job)

    def _ended(self, log: "LocalLog", part: int, done: list[Done]) -> None:
        self._is_out = False
        wanted, self._wanted = self._wanted, 0
        waiting, self._waiting = self._waiting, []
        # A part that could not be synced ends what waits for the whole.
        goes_on = bool(done) or log.recovery_point >= part
        if waiting and goes_on and log.recovery_point < wanted:
            try:
                self._send(log, wanted, waiting)
                waiting = []
            except OSError as error:
                log.context.failed(error)
        for each in (*done, *waiting):
            each()


class FlushJob(DiskJob):
    """Syncs the segments that hold offsets below `up_to`, then moves the recovery point there,
    unless the log was cut meanwhile: then there may be other, younger batches below `up_to`. Made
    where the log is used: index entries are written out, descriptors pinned."""

    def __init__(
        self, log: "LocalLog", up_to: int, done: Callable[[], None] = lambda: None
    ) -> None:
        """`done` is called however it ended. Raises OSError; then nothing is held."""
        self._log = log
        self._up_to = up_to
        self._done = done
        self._truncations = log.truncations
        self._pinned: list[FileRange] = []
        self._paths: list[str] = []
        has_new = False
        try:
            for segment in log.segments.between(log.recovery_point, up_to):
                segment.flush_indexes()
                self._pinned.append(segment.file.pin(0, 0))
                self._paths += map(segment.path, file_names.INDEX_SUFFIXES)
                has_new = has_new or segment.base_offset >= log.recovery_point
            if has_new:  # whose names are not durable yet (LocalLog.flush)
                self._paths.append(log.directory)
        except BaseException:
            self._release()
            raise

    def _release(self) -> None:
        for pinned in self._pinned:
            pinned.release()

    def work(self) -> None:
        for pinned in self._pinned:
            os.fdatasync(pinned.fd)
        for path in self._paths:
            with suppress(FileNotFoundError):  # deleted meanwhile, it needs none
                sync_path(path)

    def finish(self) -> None:
        self._release()
        if self.error is not None:
            self._log.context.failed(self.error)
        elif self.is_done and self._log.truncations == self._truncations:
            self._log.flushed_to(self._up_to)
        self._done()
