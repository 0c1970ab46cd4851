"""The names of a log's files and directories: the only place that builds and parses them.

A partition is a directory `<topic>-<partition>`. In it, each segment's files start with its base
offset in 20 digits. Suffixes behind those of segments: `.deleted` is to be removed, `.cleaned` is
being written by compaction, `.swap` is complete and about to replace segments. A directory that is
to be removed is `<topic>-<partition>.<uuid>-delete`.
"""

import re
from pathlib import Path
from typing import Final
from uuid import UUID

from brokerd.topic_partition import TopicPartition

LOG: Final = ".log"
INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TXN_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
INDEX_SUFFIXES: Final = (INDEX, TIME_INDEX, TXN_INDEX)
SEGMENT_SUFFIXES: Final = (LOG, *INDEX_SUFFIXES, SNAPSHOT)

EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"

DIRECTORY_NAME_MAX: Final = 255
DELETE_SUFFIX: Final = "-delete"
STRAY_SUFFIX: Final = "-stray"

_SEGMENT_FILE = re.compile(r"(\d{20})(\.[a-z]+)")
_PARTITION_DIRECTORY = re.compile(r"([a-zA-Z0-9._-]{1,249})-(\d{1,10})")


def segment_file(directory: Path | str, base_offset: int, suffix: str) -> str:
    """The path of a segment's file. A str, since a Path costs more than the file."""
    return f"{directory}/{base_offset:020d}{suffix}"


def cleaned_file(directory: Path | str, base_offset: int, suffix: str, job: str) -> str:
    """The path of a file that a compaction job writes. It has the job's name, so that a cancelled
    job, whose process may still run, does not write to files of another."""
    return f"{segment_file(directory, base_offset, suffix)}.{job}{CLEANED}"


def parse_segment_file(name: str) -> tuple[int, str] | None:
    """(base offset, suffix) of a segment's file; None for any other file."""
    match = _SEGMENT_FILE.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def partition_directory(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


def parse_partition_directory(name: str) -> TopicPartition | None:
    """(topic, partition) of a directory that holds a live log; None for any other."""
    match = _PARTITION_DIRECTORY.fullmatch(name)
    if match is None or name.endswith((DELETE_SUFFIX, STRAY_SUFFIX, "-future")):
        return None
    return match[1], int(match[2])


def deleted_directory(topic: str, partition: int, unique: UUID) -> str:
    """The name of a partition's directory that is to be removed; long topic names are cut."""
    suffix = f"-{partition}.{unique.hex}{DELETE_SUFFIX}"
    return topic[: DIRECTORY_NAME_MAX - len(suffix)] + suffix
