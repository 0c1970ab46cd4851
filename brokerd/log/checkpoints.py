"""Checkpoint files: small text files replaced whole, so that a reader sees the old or the new one.

Format: a line `0` (version), a line with the number of entries, then one entry a line. Per log
directory an entry is `topic partition offset`, in three files; per partition
`leader-epoch-checkpoint` has `epoch start_offset`. Written to `<name>.tmp`, synced, renamed.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from brokerd.errors import ErrorCode, KafkaError

RECOVERY_POINT: Final = "recovery-point-offset-checkpoint"
LOG_START: Final = "log-start-offset-checkpoint"
HIGH_WATERMARK: Final = "replication-offset-checkpoint"

TEMPORARY: Final = ".tmp"
_VERSION = "0"

Offsets = Mapping[tuple[str, int], int]


def read_entries(path: Path | str) -> list[list[str]]:
    """The entries of a checkpoint, split into words; none where the file is missing.

    Raises KafkaError(KAFKA_STORAGE_ERROR) naming the file where it does not hold together.
    """
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"cannot read {path}: {error}") from error
    if len(lines) < 2 or lines[0] != _VERSION or not lines[1].isdigit():
        raise _malformed(path)
    entries = [line.split() for line in lines[2:] if line]
    if len(entries) != int(lines[1]):
        raise _malformed(path)
    return entries


def write_entries(path: Path | str, entries: Iterable[str], *, sync: bool = True) -> None:
    """Replace a checkpoint by these entries. Raises OSError; the old file then stays."""
    lines = list(entries)
    text = "\n".join((_VERSION, str(len(lines)), *lines, ""))
    replace_file(path, text, sync=sync)


def replace_file(path: Path | str, text: str, *, sync: bool = True) -> None:
    """Replace a file by `text` in one step. Raises OSError."""
    temporary = f"{path}{TEMPORARY}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)


def read_offsets(path: Path | str) -> dict[tuple[str, int], int]:
    """(topic, partition) → offset. Raises as `read_entries`."""
    try:
        return {
            (topic, int(partition)): int(offset)
            for topic, partition, offset in read_entries(path)
        }
    except ValueError:
        raise _malformed(path) from None


def offset_entries(offsets: Offsets) -> list[str]:
    return [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]


def _malformed(path: Path | str) -> KafkaError:
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{path} is not a checkpoint file")
