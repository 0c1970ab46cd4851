"""The lines of offset and time indexes, compared with their data as in Kafka's DumpLogSegments.

Kafka preallocates the index of its active segment: the zeros behind the last entry are not shown.
"""

import os
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from brokerd.cli.options import CliError
from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT32_MAX
from brokerd.log import file_names
from brokerd.log.io.scan_batches import walk_headers
from brokerd.protocol.records import NO_TIMESTAMP, BatchHeader, iter_records

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
NOT_FOUND = -1


@dataclass(slots=True)
class Findings:
    """Mismatches, printed at the end of the output: lines by their heading."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    failed: bool = False
    """Whether there was damage at which Kafka's tool would have ended."""

    def note(self, heading: str, line: str) -> None:
        self.lines.setdefault(heading, []).append(line)


def base_offset(file: str) -> int:
    """The base offset in a file's name; CliError where it has none."""
    stem = os.path.basename(file).split(".")[0]
    if not stem.isdecimal():
        raise CliError("its name does not begin with an offset")
    return int(stem)


def offset_index_lines(
    file: str, sanity_only: bool, verify_only: bool, mismatches: Findings
) -> Iterator[str]:
    """The lines of an offset index. Raises OSError, CliError."""
    base = base_offset(file)
    raw = Path(file).read_bytes()
    if not raw:
        yield f"{file} is empty."
    elif sanity_only:
        yield _sanity(file, _OFFSET_ENTRY, raw)
    else:
        with open(_sibling(file, file_names.LOG), "rb") as data:
            for relative, position in _entries_in_use(_OFFSET_ENTRY, raw):
                _compare_offset(data.fileno(), position, base + relative, file, mismatches)
                if not verify_only:
                    yield f"offset: {base + relative} position: {position}"


def _compare_offset(fd: int, position: int, indexed: int, file: str, mismatches: Findings) -> None:
    batch = next(_batches(fd, position), None)
    last_offset = NOT_FOUND if batch is None else batch[1].last_offset
    mismatches.failed |= batch is None
    if last_offset != indexed:
        mismatches.note(
            f"Mismatches in :{os.path.abspath(file)}",
            f"  Index offset: {indexed}, log offset: {last_offset}",
        )


def time_index_lines(
    file: str, sanity_only: bool, verify_only: bool, mismatches: Findings
) -> Iterator[str]:
    """The lines of a time index. Raises OSError, CliError."""
    base = base_offset(file)
    raw = Path(file).read_bytes()
    if sanity_only:
        yield _sanity(file, _TIME_ENTRY, raw)
        return
    positions = _entries_in_use(_OFFSET_ENTRY, _sibling(file, file_names.INDEX).read_bytes())
    previous = NO_TIMESTAMP
    with open(_sibling(file, file_names.LOG), "rb") as data:
        for timestamp, relative in _entries_in_use(_TIME_ENTRY, raw):
            start = _position_before(positions, relative)
            entry = timestamp, base + relative
            _compare_time(data.fileno(), start, entry, previous, file, mismatches)
            if not verify_only:
                yield f"timestamp: {timestamp} offset: {base + relative}"
            previous = timestamp


def _compare_time(
    fd: int, start: int, entry: tuple[int, int], previous: int, file: str, mismatches: Findings
) -> None:
    timestamp, indexed = entry
    path = os.path.abspath(file)
    batch = next((each for each in _batches(fd, start) if each[1].last_offset >= indexed), None)
    if batch is None or batch[1].last_offset != indexed:
        last_offset = NOT_FOUND if batch is None else batch[1].last_offset
        mismatches.note(
            "The following indexed offsets are not found in the log.",
            f"Indexed offset: {indexed}, found log offset: {last_offset}",
        )
        return
    largest = _largest_timestamp(fd, *batch, mismatches)
    if largest != timestamp:
        mismatches.note(
            f"Found timestamp mismatch in :{path}",
            f"  Index timestamp: {timestamp}, log timestamp: {largest}",
        )
    if previous >= timestamp:
        mismatches.note(
            f"Found out of order timestamp in :{path}",
            f"  Index timestamp: {timestamp}, Previously indexed timestamp: {previous}",
        )


def _largest_timestamp(fd: int, position: int, header: BatchHeader, mismatches: Findings) -> int:
    """The largest timestamp of the records, or that of the header if they cannot be read."""
    batch = memoryview(os.pread(fd, header.size_bytes, position))
    try:
        times = (record.timestamp_ms for record in iter_records(header, batch))
        return max(times, default=NO_TIMESTAMP)
    except (KafkaError, IndexError, ValueError):
        mismatches.failed = True
        return header.max_timestamp


def entries(layout: struct.Struct, raw: bytes) -> list[tuple[int, ...]]:
    """The entries of a file, without an incomplete one at the end."""
    whole = len(raw) // layout.size * layout.size
    return list(layout.iter_unpack(memoryview(raw)[:whole]))


def _entries_in_use(layout: struct.Struct, raw: bytes) -> list[tuple[int, ...]]:
    """The entries without the zeros behind the last one."""
    rows = entries(layout, raw)
    end = next((at for at, entry in enumerate(rows) if at and not any(entry)), None)
    return rows[:end]


def _sanity(file: str, layout: struct.Struct, raw: bytes) -> str:
    """Checks an index file. Raises CliError if the broker would build the index anew."""
    if len(raw) % layout.size:
        raise CliError(f"it is corrupt, found {len(raw)} bytes, not a multiple of {layout.size}")
    used = _entries_in_use(layout, raw)
    if used and used[-1] < used[0]:
        raise CliError("it is corrupt, its last entry lies before its first")
    return f"{file} passed sanity check."


def _position_before(positions: list[tuple[int, ...]], relative: int) -> int:
    """The position of the last indexed batch at or before an offset."""
    found = bisect_right(positions, (relative, INT32_MAX))
    return positions[found - 1][1] if found else 0


def _batches(fd: int, position: int) -> Iterator[tuple[int, BatchHeader]]:
    return walk_headers(fd, max(position, 0), os.fstat(fd).st_size)


def _sibling(file: str, suffix: str) -> Path:
    return Path(file).with_name(os.path.basename(file).split(".")[0] + suffix)
