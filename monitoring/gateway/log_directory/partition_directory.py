"""Opens the directory of a partition in a log directory, and the files in it.

Neither may be a symbolic link, so that nothing outside the log directory is read.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.topic_names import is_topic_name

LOG_SUFFIX = ".log"
_SEGMENT_FILE = re.compile(r"(\d{20})(\.[a-z]+)", re.ASCII)
_CHECKPOINT_BYTES_MAX = 64 << 20
_NOT_FOLLOWED = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that is open for reading."""

    _descriptor: int

    def read(self, position: int, size_bytes: int) -> bytes:
        """A `ReadAt` (damaged_file.py)."""
        return os.pread(self._descriptor, size_bytes, position)

    def size_bytes(self) -> int:
        """The size at this moment."""
        return os.fstat(self._descriptor).st_size


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
    """The open directory of a partition. Its methods raise OSError."""

    log_directory: str
    _descriptor: int

    def segment_files(self) -> dict[int, list[tuple[str, int]]]:
        """Base offset → the files of its segment, as (name, size in bytes), oldest segment first.

        Without files that belong to no log file, and files that are removed meanwhile.
        """
        found: dict[int, list[tuple[str, int]]] = {}
        with os.scandir(self._descriptor) as entries:
            for entry in entries:
                match = _SEGMENT_FILE.fullmatch(entry.name)
                if match and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        size_bytes = entry.stat(follow_symlinks=False).st_size
                        found.setdefault(int(match[1]), []).append((entry.name, size_bytes))
        return {
            base_offset: sorted(files)
            for base_offset, files in sorted(found.items())
            if any(name.endswith(LOG_SUFFIX) for name, _size in files)
        }

    @contextmanager
    def opened(self, base_offset: int, suffix: str) -> Iterator[OpenFile]:
        """One file of a segment."""
        name = segment_file_name(base_offset, suffix)
        # Without O_NONBLOCK a named pipe would wait for a writer.
        descriptor = os.open(name, _NOT_FOLLOWED | os.O_NONBLOCK, dir_fd=self._descriptor)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileNotFoundError
            yield OpenFile(descriptor)
        finally:
            os.close(descriptor)


def segment_file_name(base_offset: int, suffix: str) -> str:
    """The name of a segment's file."""
    return f"{base_offset:020d}{suffix}"


@contextmanager
def opened_partition(
    log_directories: Sequence[str], key: TopicPartition
) -> Iterator[PartitionDirectory | None]:
    """The directory of the partition in the first log directory that has it; None = none has.

    Raises OSError.
    """
    topic, partition = key
    if not is_topic_name(topic) or partition < 0:
        yield None
        return
    for log_directory in log_directories:
        path = os.path.join(log_directory, partition_key(topic, partition))
        try:
            descriptor = os.open(path, _NOT_FOLLOWED | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            continue
        try:
            yield PartitionDirectory(log_directory, descriptor)
        finally:
            os.close(descriptor)
        return
    yield None


def checkpoint_text(log_directory: str, name: str) -> str:
    """A checkpoint file of a log directory; "" if it has none. Raises OSError, ValueError."""
    try:
        descriptor = os.open(os.path.join(log_directory, name), _NOT_FOLLOWED | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    with open(descriptor, "rb") as file:
        return file.read(_CHECKPOINT_BYTES_MAX).decode()
