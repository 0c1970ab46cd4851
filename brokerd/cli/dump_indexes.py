"""Offset and time indexes beside their data, as Kafka's DumpLogSegments checks them.

Kafka sets room aside for the whole index of its active segment: the zeros behind the last entry
are not shown. Entries are compared with the batches they point at.
"""

import os
import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from brokerd.cli.options import CliError
from brokerd.errors import KafkaError
from brokerd.limits import INT32_MAX
from brokerd.log import names
from brokerd.log.indexes import offset_index, time_index
from brokerd.log.io.scan import walk_headers
from brokerd.protocol.records import BatchHeader, iter_records

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
NOT_FOUND = -1

Pairs = dict[str, list[tuple[int, int]]]


@dataclass(slots=True)
class Findings:
    """What does not match, by the absolute path of the index."""

    offsets: Pairs = field(default_factory=dict)
    timestamps: Pairs = field(default_factory=dict)
    order: Pairs = field(default_factory=dict)
    not_found: Pairs = field(default_factory=dict)
    damaged: bool = False
    """Something that Kafka's tool would have ended at."""


def base_offset(file: str) -> int:
    """The base offset in a file's name; CliError where it has none."""
    stem = os.path.basename(file).split(".")[0]
    if not stem.isdecimal():
        raise CliError("its name does not begin with an offset")
    return int(stem)


def offset(file: str, sanity_only: bool, verify_only: bool, found: Findings) -> Iterator[str]:
    """The lines of an offset index. Raises OSError, CliError."""
    base = base_offset(file)
    raw = Path(file).read_bytes()
    entries = _entries(_OFFSET_ENTRY, raw)
    if not entries:
        yield f"{file} is empty."
        return
    if sanity_only:
        _check_sanity("Index file", file, raw, offset_index.ENTRY_BYTES, entries[-1][0])
        yield f"{file} passed sanity check."
        return
    with open(_data_file(file), "rb") as data:
        fd, size = data.fileno(), os.fstat(data.fileno()).st_size
        for number, (relative, position) in enumerate(entries):
            if relative == 0 and number:
                return
            _compare_offset(fd, size, position, base + relative, file, found)
            if not verify_only:
                yield f"offset: {base + relative} position: {position}"


def _compare_offset(
    fd: int, size: int, position: int, indexed: int, file: str, found: Findings
) -> None:
    batch = next(_batches(fd, position, size), None)
    last_offset = NOT_FOUND if batch is None else batch[1].last_offset
    if batch is None:
        found.damaged = True
    if last_offset != indexed:
        _note(found.offsets, file, (indexed, last_offset))


def time(file: str, sanity_only: bool, verify_only: bool, found: Findings) -> Iterator[str]:
    """The lines of a time index. Raises OSError, CliError."""
    base = base_offset(file)
    raw = Path(file).read_bytes()
    entries = _entries(_TIME_ENTRY, raw)
    if sanity_only:
        if entries and entries[-1][0] < entries[0][0]:
            raise CliError(
                f"Corrupt time index found, time index file ({os.path.abspath(file)}) has"
                f" non-zero size but the last timestamp is {entries[-1][0]} which is less than"
                f" the first timestamp {entries[0][0]}"
            )
        last = entries[-1][1] if entries else 0
        _check_sanity("Time index file", file, raw, time_index.ENTRY_BYTES, last)
        yield f"{file} passed sanity check."
        return
    positions = _used(_entries(_OFFSET_ENTRY, _beside(file, names.INDEX).read_bytes()))
    with open(_data_file(file), "rb") as data:
        fd, size = data.fileno(), os.fstat(data.fileno()).st_size
        previous = time_index.NO_TIMESTAMP
        for number, (timestamp, relative) in enumerate(entries):
            if relative == 0 and number:
                return
            start = _floor(positions, relative)
            _compare_time(fd, size, start, (timestamp, base + relative), previous, file, found)
            if not verify_only:
                yield f"timestamp: {timestamp} offset: {base + relative}"
            previous = timestamp


def _compare_time(
    fd: int, size: int, start: int, entry: tuple[int, int], previous: int, file: str,
    found: Findings,
) -> None:  # fmt: skip
    timestamp, indexed = entry
    batches = _batches(fd, start, size)
    batch = next((each for each in batches if each[1].last_offset >= indexed), None)
    if batch is None or batch[1].last_offset != indexed:
        last_offset = NOT_FOUND if batch is None else batch[1].last_offset
        _note(found.not_found, file, (indexed, last_offset))
        return
    largest = _largest_timestamp(fd, *batch, found)
    if largest != timestamp:
        _note(found.timestamps, file, (timestamp, largest))
    if previous >= timestamp:
        _note(found.order, file, (timestamp, previous))


def _largest_timestamp(fd: int, position: int, header: BatchHeader, found: Findings) -> int:
    """That of the records, or the header's where they cannot be read."""
    batch = memoryview(os.pread(fd, header.size_bytes, position))
    try:
        return max(
            (record.timestamp_ms for record in iter_records(header, batch)),
            default=time_index.NO_TIMESTAMP,
        )
    except (KafkaError, IndexError, ValueError):
        found.damaged = True
        return header.max_timestamp


def finding_lines(found: Findings) -> Iterator[str]:
    """What goes to standard error at the end."""
    for path, pairs in found.offsets.items():
        yield f"Mismatches in :{path}"
        for indexed, last_offset in reversed(pairs):
            yield f"  Index offset: {indexed}, log offset: {last_offset}"
    for path, pairs in found.timestamps.items():
        yield f"Found timestamp mismatch in :{path}"
        for timestamp, largest in pairs:
            yield f"  Index timestamp: {timestamp}, log timestamp: {largest}"
    for path, pairs in found.order.items():
        yield f"Found out of order timestamp in :{path}"
        for timestamp, previous in pairs:
            yield f"  Index timestamp: {timestamp}, Previously indexed timestamp: {previous}"
    for pairs in found.not_found.values():
        yield "The following indexed offsets are not found in the log."
        for indexed, last_offset in pairs:
            yield f"Indexed offset: {indexed}, found log offset: {last_offset}"


def _entries(layout: struct.Struct, raw: bytes) -> list[tuple[int, int]]:
    """The whole entries; half of one at the end is left to the sanity check."""
    whole = len(raw) // layout.size * layout.size
    return list(layout.iter_unpack(memoryview(raw)[:whole]))


def _check_sanity(kind: str, file: str, raw: bytes, entry_bytes: int, last: int) -> None:
    path = os.path.abspath(file)
    if last < 0:
        base = base_offset(file)
        what = "time index" if kind.startswith("Time") else "index"
        raise CliError(
            f"Corrupt {what} found, {what} file ({path}) has non-zero size but the last offset is"
            f" {base + last} which is less than the base offset {base}"
        )
    if len(raw) % entry_bytes:
        raise CliError(
            f"{kind} {path} is corrupt, found {len(raw)} bytes which is neither positive nor a"
            f" multiple of {entry_bytes}"
        )


def _used(entries: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without the zeros behind the last entry."""
    end = next((at for at, (relative, _) in enumerate(entries) if at and not relative), None)
    return entries[:end]


def _floor(positions: list[tuple[int, int]], relative: int) -> int:
    """Where to start looking for an offset."""
    found = bisect_right(positions, (relative, INT32_MAX))
    return positions[found - 1][1] if found else 0


def _batches(fd: int, position: int, size: int) -> Iterator[tuple[int, BatchHeader]]:
    return walk_headers(fd, position, size) if position >= 0 else islice((), 0)


def _beside(file: str, suffix: str) -> Path:
    return Path(file).with_name(os.path.basename(file).split(".")[0] + suffix)


def _data_file(file: str) -> Path:
    return _beside(file, names.LOG)


def _note(pairs: Pairs, file: str, pair: tuple[int, int]) -> None:
    pairs.setdefault(os.path.abspath(file), []).append(pair)
