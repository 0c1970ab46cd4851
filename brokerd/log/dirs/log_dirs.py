"""All log directories of a broker: which of them are online, and where a new log is created.

A directory that cannot be read or written is *offline* until the broker restarts: its logs are not
served, and its checkpoints are not written. A log that is in no online directory may be in an
offline one: so while one is offline, a new log is created only for a partition that never had a
record (LogManager.getOrCreateLog).
"""

import logging
import os
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log.dirs.log_dir import LogDir, LogDirError, LogDirFailedError
from brokerd.log.offset_checkpoint_file import OffsetCheckpointFile
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

GONE_MAX: Final = 10_000

ALL_FAILED: Final = "no directory of log.dirs can be used: mend one and start again"


class FailedDir(NamedTuple):
    """A log directory that was taken offline, the reason, and its partitions."""

    path: str
    reason: str
    partitions: list[TopicPartition]


class LogDirs:
    """`paths` are all directories, `live` those online, `offline` the reasons of the others, `lost`
    the reasons of partitions in them that are not served. `of` has the directory of each log."""

    def __init__(self, paths: Sequence[str], broker_id: int) -> None:
        """Locks the directories. Raises LogDirError."""
        self.paths = [os.path.abspath(path) for path in paths]
        self.live: list[LogDir] = []
        self.offline: dict[str, str] = {}
        self.lost: dict[TopicPartition, str] = {}
        self.of: dict[TopicPartition, LogDir] = {}
        self._gone: set[TopicPartition] = set()  # logs that went, which checkpoints may name
        self._are_all_known = True
        self._refuse_twice()
        try:
            for path in paths:
                self._open(path, broker_id)
            self.require_one()
        except LogDirError:
            self.unlock()
            raise

    def _refuse_twice(self) -> None:
        """Refuses one directory under two names: it would be locked and loaded twice."""
        real: dict[str, str] = {}
        for path in self.paths:
            other = real.setdefault(os.path.realpath(path), path)
            if self.paths.count(path) > 1 or other != path:
                raise LogDirError(f"log.dirs names one directory twice, as {other} and {path}")

    def _open(self, path: str, broker_id: int) -> None:
        try:
            self.live.append(LogDir(path, broker_id))
        except LogDirFailedError as error:
            self._offline(os.path.abspath(path), str(error), 0)

    def require_one(self) -> None:
        """Raises LogDirError if none is online."""
        if not self.live:
            raise LogDirError(f"{ALL_FAILED} ({'; '.join(self.offline.values())})")

    def _offline(self, path: str, reason: str, partitions: int) -> None:
        self.offline[path] = reason
        concerned = f"{partitions} partitions are" if partitions else "what lies in it is"
        logger.error(
            "the log directory %s is offline until the broker starts again and %s not served: %s",
            path, concerned, reason,
        )  # fmt: skip

    def fail(self, path: str, reason: str) -> list[TopicPartition]:
        """Takes a directory offline; returns its partitions."""
        log_dir = self.at(path)
        if log_dir is None:
            return []
        self.live.remove(log_dir)
        log_dir.unlock()
        keys = [key for key, there in self.of.items() if there is log_dir]
        for key in keys:
            del self.of[key]
            self.lost[key] = f"its log directory {path} is offline"
        self._offline(path, reason, len(keys))
        return keys

    @property
    def were_clean(self) -> bool:
        """Whether the last stop of all online directories was clean."""
        return all(log_dir.was_clean for log_dir in self.live)

    def at(self, path: str) -> LogDir | None:
        """The online directory at `path`, or in which `path` is."""
        for log_dir in self.live:
            if path == log_dir.path or path.startswith(f"{log_dir.path}/"):
                return log_dir
        return None

    def put(self, key: TopicPartition, log_dir: LogDir) -> None:
        """A log is in the directory now."""
        self._gone.discard(key)
        self.of[key] = log_dir
        log_dir.partitions += 1

    def remove(self, key: TopicPartition) -> None:
        """A log was deleted."""
        self.of.pop(key).partitions -= 1
        self._note_gone(key)

    def _note_gone(self, key: TopicPartition) -> None:
        if len(self._gone) < GONE_MAX:
            self._gone.add(key)
        else:  # from now on the files are searched for each new log
            self._are_all_known = False

    def may_hold_unseen(self, key: TopicPartition) -> bool:
        return bool(self.offline) and key not in self.of

    def refuse_if_maybe_offline(self, key: TopicPartition, *, is_new: bool) -> None:
        """Raises KafkaError(KAFKA_STORAGE_ERROR) for a partition whose log is in an offline
        directory, or may be if it is not new."""
        if key in self.lost:
            reason = self.lost[key]
        elif self.offline and not is_new:
            paths = ", ".join(self.offline)
            reason = f"its log may lie in a log directory that is offline: {paths}"
        else:
            return
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, reason)

    # -- checkpoints and cluster ------------------------------------------------------------------

    @property
    def cluster_id(self) -> str:
        """The id of the cluster that the directories belong to; '' if they are new."""
        return next((d.cluster_id for d in self.live if d.cluster_id), "")

    def read(self, name: str) -> dict[TopicPartition, int]:
        """The entries that checkpoints of that name have of the logs, each in its own directory."""
        found = {}
        for log_dir in self.live:
            offsets = log_dir.read_checkpoint(name)
            self.note_stale(offsets)
            found.update({k: offset for k, offset in offsets.items() if self.of.get(k) is log_dir})
        return found

    def note_stale(self, entries: Iterable[TopicPartition]) -> None:
        """A checkpoint has these entries: those of logs that are nowhere are stale."""
        for key in entries:
            if key not in self.of:
                self._note_gone(key)

    def forget_older_log(self, key: TopicPartition) -> list[OffsetCheckpointFile]:
        """A log is about to be created: clears the entries that checkpoints have of an older log
        with its name. Returns the files to sync, which makes this durable. Raises OSError."""
        if self._are_all_known and key not in self._gone:
            return []
        files = [file for log_dir in self.live for file in log_dir.checkpoints.values()]
        for file in files:
            file.forget({key, *self._gone})
        self._gone.clear()
        return files

    def unlock(self) -> None:
        for log_dir in self.live:
            log_dir.unlock()
