"""Checkpoint files: small text files that are replaced as a whole.

Format: a line `0` (version), a line with the number of entries, then one entry a line. Per log
directory an entry is `topic partition offset`, in four files; per partition
`leader-epoch-checkpoint` has `epoch start_offset`. Written to `<name>.tmp` and renamed
(Utils.atomicMoveWithFallback); all but `leader-epoch-checkpoint` are synced, with the directory. A
damaged one is logged and treated as missing: the logs have the same, only more slowly.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from brokerd.errors import ErrorCode, KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.log.io.files import opened, read_whole, sync_path
from brokerd.topic_partition import TopicPartition

RECOVERY_POINT: Final = "recovery-point-offset-checkpoint"
LOG_START: Final = "log-start-offset-checkpoint"
CLEANER: Final = "cleaner-offset-checkpoint"
HIGH_WATERMARK: Final = "replication-offset-checkpoint"
ALL: Final = (RECOVERY_POINT, LOG_START, CLEANER, HIGH_WATERMARK)

TEMPORARY: Final = ".tmp"
_VERSION = "0"
LOOKED_FOR_MAX: Final = 32
SHOWN_MAX: Final = 40
OFFSET: Final = re.compile(r"(\S+)\s+(\d{1,10})\s+(\d{1,19})", re.ASCII)
EPOCH: Final = re.compile(r"()(\d{1,10})\s+(\d{1,19})", re.ASCII)

Offsets = Mapping[TopicPartition, int]
Replace = Callable[[str, str], object]


def read_entries(
    path: Path | str, entry: re.Pattern[str], *, may_be_empty: bool = False
) -> list[tuple[str, int, int]]:
    """The entries (OFFSET or EPOCH) of a checkpoint; none if the file is missing or, where that is
    allowed, empty. Raises KafkaError(KAFKA_STORAGE_ERROR) with the file and the damaged line."""
    try:
        lines = read_whole(path).decode().split("\n")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot read {path}: {error}") from error
    if may_be_empty and lines == [""]:
        return []
    if lines[0] != _VERSION:
        raise malformed(path, 1, f"it is {lines[0][:SHOWN_MAX]!r}, not the version {_VERSION}")
    count = lines[1] if len(lines) > 1 else ""
    if not (count.isascii() and count.isdigit()):
        raise malformed(path, 2, f"it is {count[:SHOWN_MAX]!r}, not the number of entries")
    entries = []
    for number, line in enumerate(lines[2:], 3):
        match = entry.fullmatch(line.strip())
        if match is not None and int(match[3]) <= INT64_MAX:
            entries.append((match[1], int(match[2]), int(match[3])))
        elif line:
            raise malformed(path, number, f"{line[:SHOWN_MAX]!r} is no entry")
    if str(len(entries)) != count:
        raise malformed(path, 2, f"it says {count[:SHOWN_MAX]} entries, {len(entries)} follow")
    return entries


def write_entries(
    path: Path | str, entries: Iterable[str], *, sync: bool = True, replace: Replace = os.replace
) -> None:
    """Replaces a checkpoint by these entries. Raises OSError; then the old file stays."""
    lines = list(entries)
    text = "\n".join((_VERSION, str(len(lines)), *lines, ""))
    replace_file(path, text, sync=sync, replace=replace)


def replace_file(
    path: Path | str, text: str, *, sync: bool = True, replace: Replace = os.replace
) -> None:
    """Replaces a file by `text` in one step; durable if `sync`. Raises OSError."""
    temporary = f"{path}{TEMPORARY}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    replace(temporary, str(path))
    if sync:
        sync_path(os.path.dirname(path))


def read_offsets(path: Path | str) -> dict[TopicPartition, int]:
    """(topic, partition) → offset; none in an empty file, as Kafka creates them. Raises as
    `read_entries`."""
    return {
        (topic, partition): offset
        for topic, partition, offset in read_entries(path, OFFSET, may_be_empty=True)
    }


def offset_entries(offsets: Offsets) -> list[str]:
    return [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]


def zero_offsets(keys: Collection[TopicPartition], path: str) -> None:
    """Overwrites the offsets of these logs by zeros, digit by digit, in place. 0 is right for a new
    log, the change survives a kill without a sync, and a power failure cannot damage other entries.
    Raises OSError."""
    wanted = {f"{topic} {partition}".encode() for topic, partition in keys}
    try:
        with opened(path, os.O_RDWR) as fd:
            text = os.pread(fd, os.fstat(fd).st_size, 0)
            for position, digits in _offsets_of(wanted, text):
                os.pwrite(fd, b"0" * len(digits), position)
    except FileNotFoundError:
        return


def _offsets_of(wanted: set[bytes], text: bytes) -> Iterator[tuple[int, bytes]]:
    """(position, digits) of the offsets of these logs. To search for one takes 0.5 ms in a
    megabyte, to parse each line 27 ms."""
    if len(wanted) <= LOOKED_FOR_MAX:
        for name in wanted:
            found = text.find(b"\n%b " % name)
            if found >= 0:
                position = found + len(name) + 2
                yield position, text[position : text.find(b"\n", position)]
        return
    position = 0
    for line in text.split(b"\n"):
        name, _, digits = line.rpartition(b" ")
        if name in wanted:
            yield position + len(name) + 1, digits
        position += len(line) + 1


def malformed(path: Path | str, line: int, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.KAFKA_STORAGE_ERROR, f"{path} is not a checkpoint file: line {line}: {reason}"
    )
