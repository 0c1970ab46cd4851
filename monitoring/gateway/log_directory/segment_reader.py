"""Reads one segment of an open partition directory: its figures, index entries, batches, look-up.

Raises DamagedFile, OSError; the shapes are those of brokerd's admin port (brokerd_admin.py).
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from brokerd.protocol.compression import codec_name
from monitoring.error_reason import Reason
from monitoring.gateway.log_directory import batch_scan
from monitoring.gateway.log_directory.batch_scan import Placed
from monitoring.gateway.log_directory.damaged_file import DamagedFile
from monitoring.gateway.log_directory.index_file import SUFFIXES, Entry, IndexFile, Kind
from monitoring.gateway.log_directory.partition_directory import (
    LOG_SUFFIX,
    OpenFile,
    PartitionDirectory,
    segment_file_name,
)

Json = dict[str, Any]
SCANNED_BATCHES_MAX = 4000
_NO_TIMESTAMP = -1
_NEAR = 2  # index entries before an entry, and from it on, in a look-up
_NAMES: dict[Kind, tuple[str, str]] = {
    "offset": ("offset", "position_bytes"),
    "time": ("timestamp_ms", "offset"),
}


class DamagedIndex(DamagedFile):
    """An index file is damaged; `name` is its name without the directory."""

    def __init__(self, name: str, reason: Reason) -> None:
        super().__init__(reason)
        self.name = name


class NoBatch(Exception):
    """No batch starts at a position of a segment."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@dataclass(frozen=True, slots=True)
class SegmentReader:
    """A segment of a partition, by its base offset."""

    directory: PartitionDirectory
    base_offset: int

    def described(self, next_offset: int, files: Sequence[tuple[str, int]], active: bool) -> Json:
        """The figures of the segment, without its compression. The numbers of index entries are
        None, and the largest timestamp is -1, if the index file is damaged."""
        sizes = dict(files)
        first_ms = largest_ms = _NO_TIMESTAMP
        index_entries: int | None = 0
        time_entries: int | None = 0
        with suppress(FileNotFoundError):  # the segment is removed meanwhile: it counts as empty
            index_entries, last_indexed = self._count_and_last("offset")
            time_entries, last_timed = self._count_and_last("time")
            largest_ms = last_timed[0] if last_timed else _NO_TIMESTAMP
            with self._log() as log:
                head = next(batch_scan.walk_headers(log.read, 0, log.size_bytes()), None)
                first_ms = head[1].max_timestamp if head else _NO_TIMESTAMP
                if active:
                    position = last_indexed[1] if last_indexed else 0
                    largest_ms = max(largest_ms, _newest_ms(log, position))
        return {
            "base_offset": self.base_offset,
            "next_offset": next_offset,
            "size_bytes": sizes.get(segment_file_name(self.base_offset, LOG_SUFFIX), 0),
            "first_timestamp_ms": first_ms,
            "largest_timestamp_ms": largest_ms,
            "index_entries": index_entries,
            "time_index_entries": time_entries,
            "active": active,
            "files": [{"name": name, "size_bytes": size} for name, size in files],
        }

    def sample(self) -> Json:
        """How the first batches are compressed."""
        with self._log() as log:
            return batch_scan.sample_compression(log.read, log.size_bytes())

    def index_page(self, kind: Kind, start: int, limit: int) -> Json:
        """The entries of an index from number `start` on."""
        with self._index(kind) as index:
            found = index.entries(start, limit)
            return {"total": index.count, "entries": [_entry(kind, each) for each in found]}

    def batch_page(self, position: int, limit: int) -> Json:
        """The batches from a position on. Raises NoBatch."""
        with self._log() as log:
            found = list(islice(_batches_from(log, position), limit))
            end = found[-1][0] + found[-1][1].size_bytes if found else position
            return {"next_position": end, "batches": [_batch(log, each) for each in found]}

    def look_up(self, offset: int, at_ms: int | None) -> Json:
        """How the indexes and a scan lead to an offset, or to the first record at or after a time,
        which has this offset. Raises NoBatch."""
        began_ns = time.perf_counter_ns()
        time_entry, wanted = None, offset
        if at_ms is not None:
            with self._index("time") as times:
                number = times.floor(at_ms)
                if number >= 0:
                    [time_entry] = times.entries(number, 1)
                wanted = time_entry[1] if time_entry else self.base_offset
        with self._index("offset") as index, self._log() as log:
            number = index.floor(wanted)
            entry = index.entry(number) if number >= 0 else None
            scan_from = entry[1] if entry else 0
            found = []
            for placed in islice(_batches_from(log, scan_from), SCANNED_BATCHES_MAX):
                found.append(placed)
                if placed[1].last_offset >= offset:
                    break
            took_us = (time.perf_counter_ns() - began_ns) / 1000
            first = max(0, number - _NEAR)
            near = index.entries(first, max(0, number) + _NEAR - first)
            return {
                "offset": offset,
                "base_offset": self.base_offset,
                "time_entry": time_entry and _entry("time", time_entry),
                "entry": entry and _entry("offset", entry),
                "near_entries": [_entry("offset", each) for each in near],
                "entry_count": index.count,
                "scan_from_bytes": scan_from,
                "batches": [_batch(log, each) for each in found],
                "took_us": took_us,
            }

    def _log(self) -> AbstractContextManager[OpenFile]:
        return self.directory.opened(self.base_offset, LOG_SUFFIX)

    @contextmanager
    def _index(self, kind: Kind) -> Iterator[IndexFile]:
        """An index; one whose file is missing has no entries. Raises DamagedIndex."""
        with ExitStack() as stack:
            try:
                file = stack.enter_context(self.directory.opened(self.base_offset, SUFFIXES[kind]))
            except FileNotFoundError:
                yield IndexFile(kind, self.base_offset, 0, lambda position, size: b"")
                return
            try:
                index = IndexFile.of(kind, self.base_offset, file.read, file.size_bytes())
                if kind == "offset" and index.count:
                    self._check_position(index.entry(index.count - 1)[1])
                yield index
            except DamagedFile as error:
                name = segment_file_name(self.base_offset, SUFFIXES[kind])
                raise DamagedIndex(name, error.reason) from error

    def _check_position(self, position: int) -> None:
        with self._log() as log:
            if position >= log.size_bytes():
                raise DamagedFile(Reason("index_beyond"))

    def _count_and_last(self, kind: Kind) -> tuple[int | None, Entry | None]:
        try:
            with self._index(kind) as index:
                return index.count, index.entry(index.count - 1) if index.count else None
        except DamagedIndex:
            return None, None


def _newest_ms(log: OpenFile, position: int) -> int:
    """The largest timestamp of the batches from the last index entry on: the time index of an
    active segment does not have these yet."""
    walk = batch_scan.walk_headers(log.read, position, log.size_bytes())
    times = [header.max_timestamp for _, header in islice(walk, SCANNED_BATCHES_MAX)]
    return max(times, default=_NO_TIMESTAMP)


def _batches_from(log: OpenFile, position: int) -> Iterator[Placed]:
    """The batches from a position on. Raises NoBatch if none starts there, but for the end."""
    end = log.size_bytes()
    walk = batch_scan.walk_headers(log.read, position, end)
    first = next(walk, None)
    if first is not None:
        yield first
        yield from walk
    elif position != end:
        raise NoBatch(position)


def _entry(kind: Kind, values: Entry) -> Json:
    return dict(zip(_NAMES[kind], values, strict=True))


def _batch(log: OpenFile, placed: Placed) -> Json:
    position, header = placed
    return {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "position_bytes": position,
        "size_bytes": header.size_bytes,
        "count": header.count,
        "codec": codec_name(header.codec),
        "max_timestamp_ms": header.max_timestamp,
        "producer_id": header.producer_id,
        "crc_ok": batch_scan.is_crc_ok(log.read, position, header),
    }
