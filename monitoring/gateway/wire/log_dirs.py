"""DescribeLogDirs: the sizes of all replicas of a broker, as arrays, and its log directories.

Version 4 tells the size of each disk; a broker that does not support it is asked for version 1.

request v1  = topics null (all)
response v1 = throttle i32, results[error i16, dir s,
              topics[name s, partitions[index i32, size i64, lag i64, future i8]]]
response v4 = throttle i32, error i16, results[error i16, dir s, topics[…], total i64, usable i64],
              flexible
"""

from dataclasses import dataclass, field

import numpy as np

from brokerd.protocol import messages
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.wire import response_limits
from monitoring.gateway.wire.answers import ClusterAnswers, LogDir
from monitoring.gateway.wire.connection import CLIENT_ID
from monitoring.gateway.wire.cursor import AFTER_CORRELATION_ID, Cursor
from monitoring.gateway.wire.metadata import Longs
from monitoring.gateway.wire.response_limits import SIZE_BYTES_MAX, check_limit

API_KEY = 35
WITH_DISKS, WITHOUT_DISKS = VERSIONS = (4, 1)

_FIELDS = [("index", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "i1")]
_ENTRY, _FLEXIBLE_ENTRY = np.dtype(_FIELDS), np.dtype([*_FIELDS, ("tags", "u1")])


def request(version: int, correlation_id: int) -> bytes:
    """The request frame for all replicas of a broker."""
    return messages.encode_request(API_KEY, version, {"topics": None}, correlation_id, CLIENT_ID)


def decode_into(answers: ClusterAnswers, broker: int, answer: bytes, version: int) -> None:
    """Put the sizes of the replicas of `broker` and its log directories into `answers`.

    The leader's replica is the size of the partition; every replica counts as data on disk, except
    a copy that is being moved to another directory (`future`). Raises GatewayError, struct.error or
    ValueError if the response is malformed or an error, OverLimit if it is too large.
    """
    cursor = Cursor(answer, AFTER_CORRELATION_ID, flexible=version == WITH_DISKS)
    decoder = _Decoder(cursor, answers)
    decoder.decode(version)
    # After all checks, so that an invalid response changes nothing.
    decoder.put(broker)


@dataclass
class _Decoder:
    """Decodes directory by directory, with limits for all of them together."""

    cursor: Cursor
    answers: ClusterAnswers
    directories: list[LogDir] = field(default_factory=list)
    # Each of these lists has an item for each topic in each directory: the rows of the topic's
    # partitions in the metadata, the index of the directory, the replicas.
    topic_rows: list[range] = field(default_factory=list)
    of_directory: list[int] = field(default_factory=list)
    arrays: list[np.ndarray] = field(default_factory=list)
    _topics_read: int = 0
    _replicas_read: int = 0

    def decode(self, version: int) -> None:
        cursor = self.cursor
        cursor.skip_tags()
        cursor.skip(4)  # throttle time
        error = cursor.i16() if version == WITH_DISKS else 0
        if error:
            raise GatewayError(Reason("log_dirs_error", error=error))
        for _ in range(cursor.array_length(item_bytes_min=5)):
            self._directory(version)

    def _directory(self, version: int) -> None:
        cursor = self.cursor
        cursor.skip(2)  # error code: a failed directory has no topics
        path = cursor.text() or ""
        topics = cursor.array_length(item_bytes_min=3)
        self._topics_read += topics + 1
        check_limit(self._topics_read, 2 * response_limits.TOPICS_MAX, "too_many_log_dirs")
        for _ in range(topics):
            self._topic()
        total = free = -1
        if version == WITH_DISKS:
            total, free = cursor.i64(), cursor.i64()
            cursor.skip_tags()
        is_known = 0 <= free <= total <= SIZE_BYTES_MAX
        self.directories.append(LogDir(path, *((total, free) if is_known else (None, None))))

    def _topic(self) -> None:
        cursor = self.cursor
        name = cursor.text() or ""
        entries = self._entries()
        cursor.skip_tags()
        if name in self.answers.metadata.rows_by_topic:
            self.topic_rows.append(self.answers.metadata.rows_by_topic[name])
            self.of_directory.append(len(self.directories))
            self.arrays.append(entries)

    def _entries(self) -> np.ndarray:
        cursor = self.cursor
        layout = _FLEXIBLE_ENTRY if cursor.flexible else _ENTRY
        count = cursor.numpy_array_length(item_bytes_min=layout.itemsize)
        self._replicas_read += count
        check_limit(
            self._replicas_read, 2 * response_limits.PARTITIONS_MAX, "too_many_broker_replicas"
        )
        start = cursor.skip(count * layout.itemsize)
        entries = np.frombuffer(cursor.data, layout, count, start)
        if cursor.flexible and entries["tags"].any():
            raise ValueError("tagged fields of replicas, which are not known")
        return entries

    def put(self, broker: int) -> None:
        sizes = np.zeros(len(self.directories), dtype=np.int64)
        sizes_taken = True
        if self.arrays:
            counts = [len(array) for array in self.arrays]
            size, index, future = (self._column(name) for name in ("size", "index", "future"))
            lengths = np.repeat([len(each) for each in self.topic_rows], counts)
            is_counted = (future == 0) & (index >= 0) & (index < lengths)
            rows = np.repeat([each.start for each in self.topic_rows], counts) + index
            sizes_taken = self.answers.put_sizes(broker, rows[is_counted], size[is_counted])
            np.add.at(sizes, np.repeat(self.of_directory, counts)[is_counted], size[is_counted])
        paths = (each.path for each in self.directories)
        size_of_path = dict(zip(paths, sizes.tolist(), strict=True)) if sizes_taken else {}
        self.answers.put_log_dirs(broker, self.directories, size_of_path)

    def _column(self, name: str) -> Longs:
        return np.concatenate([array[name] for array in self.arrays]).astype(np.int64)
