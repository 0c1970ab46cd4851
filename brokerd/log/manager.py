"""All logs of a broker, over its log directories: loading, creating, deleting, the regular duties.

Loading: lock every directory, see whether it was left cleanly, then open each partition (with
recovery where the stop was not clean). Duties are `tick_…` methods that the server calls about once
a second with the time; each knows when it is due and does a bounded slice. Slow disk work goes
through `submit` (see `context.DiskJob`).

A deleted partition is renamed at once and removed later; a directory whose topic id is not the one
asked for is set aside as `-stray`, never removed.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid4

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import checkpoints, loader, names
from brokerd.log.checkpoint_job import CheckpointJob, Done
from brokerd.log.context import (
    DiskJob,
    EventSink,
    LogContext,
    RemoveJob,
    no_event,
    run_now,
    storage_error,
)
from brokerd.log.flush import FlushJob
from brokerd.log.log_config import INT64_MAX, LogConfig
from brokerd.log.log_dir import LogDir, LogDirError, read_topic_id, write_topic_id
from brokerd.log.partition_log import PartitionLog

logger = logging.getLogger(__name__)

RETENTION_SLICE: Final = 200
NIL_TOPIC_ID: Final = UUID(int=0)

Key = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyTimes:
    """How often duties are due, how long an idle producer is remembered; Kafka's defaults."""

    retention_interval_ms: int = 300_000
    checkpoint_interval_ms: int = 60_000
    producer_expiration_ms: int = 86_400_000


DEFAULT_TIMES: Final = DutyTimes()


class LogManager:
    """See the module. Not thread-safe."""

    def __init__(
        self,
        log_dirs: list[str],
        broker_id: int,
        *,
        cluster_id: str | None = None,
        defaults: LogConfig | None = None,
        on_event: EventSink = no_event,
        submit: Callable[[DiskJob], None] = run_now,
        times: DutyTimes = DEFAULT_TIMES,
    ) -> None:
        """Lock the directories; `load` then opens what is in them. Raises LogDirError."""
        self._context = LogContext(submit=submit, on_event=on_event)
        self._defaults = defaults or LogConfig()
        self._times = times
        self._logs: dict[Key, PartitionLog] = {}
        self._dir_of: dict[Key, LogDir] = {}
        self._retention_round: Iterator[PartitionLog] = iter(())
        self._retention_due_ms = self._checkpoint_due_ms = 0
        self._flushed_ms: dict[Key, int] = {}
        self._compacted: dict[Key, None] = {}
        self._nameless: dict[Key, str] = {}
        self._dirs: list[LogDir] = []
        try:
            for path in log_dirs:
                self._dirs.append(LogDir(path, broker_id, cluster_id))
        except LogDirError:
            self._unlock()
            raise

    @classmethod
    def open(
        cls,
        log_dirs: list[str],
        broker_id: int,
        *,
        now_ms: int,
        cluster_id: str | None = None,
        defaults: LogConfig | None = None,
        on_event: EventSink = no_event,
        submit: Callable[[DiskJob], None] = run_now,
        times: DutyTimes = DEFAULT_TIMES,
    ) -> "LogManager":
        """Lock, check and load the directories. Raises LogDirError saying what to do."""
        manager = cls(
            log_dirs, broker_id, cluster_id=cluster_id, defaults=defaults, on_event=on_event,
            submit=submit, times=times,
        )  # fmt: skip
        try:
            for log_dir in manager._dirs:
                manager._load(log_dir, now_ms)
        except (LogDirError, OSError, KafkaError) as error:
            manager._unlock()
            raise LogDirError(f"cannot load the logs: {error}") from error
        manager._retention_due_ms = now_ms + times.retention_interval_ms
        manager._checkpoint_due_ms = now_ms + times.checkpoint_interval_ms
        return manager

    def _load(self, log_dir: LogDir, now_ms: int) -> None:
        recovery_points = log_dir.read_checkpoint(checkpoints.RECOVERY_POINT)
        log_starts = log_dir.read_checkpoint(checkpoints.LOG_START)
        for name in log_dir.entries():
            path = f"{log_dir.path}/{name}"
            if name.endswith(names.DELETE_SUFFIX):
                self._context.trash.add(path, now_ms)
            key = names.parse_partition_directory(name)
            if key is None:
                continue
            if key in self._logs:
                raise LogDirError(
                    f"{path} is also in {self._dir_of[key].path}: remove one of the two"
                )
            loaded = loader.load(
                self._context,
                path,
                log_start_offset=log_starts.get(key, 0),
                recovery_point=recovery_points.get(key),
                clean=log_dir.was_clean,
                now_ms=now_ms,
            )
            topic_id = self._topic_id(key, path)
            self._add(log_dir, key, topic_id, self._defaults, loaded)

    def _topic_id(self, key: Key, path: str) -> UUID:
        try:
            return read_topic_id(path) or NIL_TOPIC_ID
        except LogDirError as error:
            logger.warning("%s", error)
            self._nameless[key] = str(error)
            return NIL_TOPIC_ID

    def _add(
        self, log_dir: LogDir, key: Key, topic_id: UUID, config: LogConfig, loaded: loader.LoadedLog
    ) -> PartitionLog:
        path = log_dir.partition_path(*key)
        log = PartitionLog(self._context, path, *key, topic_id, config, loaded)
        self._logs[key] = log
        self._dir_of[key] = log_dir
        log_dir.partitions += 1
        self._note_duties(key, config)
        return log

    def _note_duties(self, key: Key, config: LogConfig) -> None:
        if config.flush_ms < INT64_MAX or config.flush_messages < INT64_MAX:
            self._flushed_ms.setdefault(key, 0)
        else:
            self._flushed_ms.pop(key, None)
        if config.is_compacted:
            self._compacted[key] = None
        else:
            self._compacted.pop(key, None)

    # -- the logs ----------------------------------------------------------------------------------

    def get(self, topic: str, partition: int) -> PartitionLog | None:
        return self._logs.get((topic, partition))

    def all(self) -> list[PartitionLog]:
        return list(self._logs.values())

    @property
    def directories(self) -> list[str]:
        return [log_dir.path for log_dir in self._dirs]

    @property
    def cluster_id(self) -> str:
        """The cluster that the directories were used in; empty while they were in none."""
        return next((d.cluster_id for d in self._dirs if d.cluster_id), "")

    def set_cluster_id(self, cluster_id: str) -> None:
        """Note the cluster in every directory. Raises LogDirError for one of another cluster."""
        for log_dir in self._dirs:
            log_dir.join(cluster_id)

    def directory_of(self, topic: str, partition: int) -> str | None:
        """The log directory that holds a partition."""
        log_dir = self._dir_of.get((topic, partition))
        return log_dir.path if log_dir else None

    def create(
        self, topic: str, partition: int, topic_id: UUID, config: LogConfig, now_ms: int
    ) -> PartitionLog:
        """The log of a partition: the one that is there, else a new, empty one.

        One that was made for another topic id is set aside first. Raises
        KafkaError(KAFKA_STORAGE_ERROR), also for one whose topic id cannot be read.
        """
        if (topic, partition) in self._nameless:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, self._nameless[topic, partition])
        log = self._logs.get((topic, partition))
        if log is not None:
            if log.topic_id in (topic_id, NIL_TOPIC_ID):
                self._adopt(log, topic_id)
                self.reconfigure(topic, partition, config)
                return log
            stray = f"{log.directory}.{uuid4().hex}-stray"
            logger.warning("%s is of another topic id: set aside as %s", log.directory, stray)
            self._set_aside(log, stray)
        log_dir = min(self._dirs, key=lambda log_dir: log_dir.partitions)
        path = log_dir.partition_path(topic, partition)
        try:
            os.makedirs(path)
            write_topic_id(path, topic_id)
            loaded = loader.load(
                self._context, path, log_start_offset=0, recovery_point=0, clean=True,
                now_ms=now_ms,
            )  # fmt: skip
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"cannot create {path}: {error.strerror}"
            ) from error
        return self._add(log_dir, (topic, partition), topic_id, config, loaded)

    def _adopt(self, log: PartitionLog, topic_id: UUID) -> None:
        """Give a log that does not say its topic id the one it must have."""
        if log.topic_id == topic_id:
            return
        try:
            write_topic_id(log.directory, topic_id)
        except OSError as error:
            raise storage_error(error) from error
        log.topic_id = topic_id

    def reconfigure(self, topic: str, partition: int, config: LogConfig) -> None:
        """Have a log obey other settings."""
        log = self._logs[topic, partition]
        if log.config != config:
            log.reconfigure(config)
            self._note_duties((topic, partition), config)

    def delete(self, topic: str, partition: int, now_ms: int) -> None:
        """Rename a partition away; its files go after file.delete.delay.ms. Raises KafkaError."""
        log = self._logs.get((topic, partition))
        if log is None:
            return
        name = names.deleted_directory(topic, partition, uuid4())
        path = f"{os.path.dirname(log.directory)}/{name}"
        self._set_aside(log, path)
        self._context.trash.add(path, now_ms + log.config.file_delete_delay_ms)
        self._context.on_event("delete", {"topic": topic, "partition": partition})

    def _set_aside(self, log: PartitionLog, path: str) -> None:
        try:
            log.abandon()
            os.rename(log.directory, path)
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"cannot rename {log.directory}: {error.strerror}"
            ) from error
        key = (log.topic, log.partition)
        self._dir_of[key].partitions -= 1
        del self._logs[key], self._dir_of[key]
        self._flushed_ms.pop(key, None)
        self._compacted.pop(key, None)
        self._nameless.pop(key, None)

    def remember_producers_for(self, expiration_ms: int) -> None:
        """How long idle producers are remembered from now on (producer.id.expiration.ms)."""
        self._times = replace(self._times, producer_expiration_ms=expiration_ms)

    # -- duties ------------------------------------------------------------------------------------

    def tick_retention(self, now_ms: int) -> None:
        """Every log.retention.check.interval.ms: old segments and producers go, in slices."""
        if now_ms >= self._retention_due_ms:
            self._retention_due_ms = now_ms + self._times.retention_interval_ms
            self._retention_round = iter(self.all())
        for _, log in zip(range(RETENTION_SLICE), self._retention_round, strict=False):
            if self.get(log.topic, log.partition) is log:
                self._retain(log, now_ms)

    def _retain(self, log: PartitionLog, now_ms: int) -> None:
        log.expire_producers(now_ms - self._times.producer_expiration_ms)
        try:
            log.apply_retention(now_ms, log.high_watermark)
        except KafkaError as error:
            self._storage_event(log, error)

    def _storage_event(self, log: PartitionLog, error: Exception) -> None:
        detail = {"topic": log.topic, "partition": log.partition, "error": str(error)}
        self._context.on_event("storage_error", detail)

    def tick_delete(self, now_ms: int) -> None:
        """Remove what was renamed away long enough ago."""
        due = self._context.trash.take_due(now_ms)
        if due:
            self._context.submit(RemoveJob(due))

    def flush_due(self, now_ms: int) -> None:
        """Sync the logs whose flush.ms or flush.messages has passed."""
        for key, flushed_ms in self._flushed_ms.items():
            log = self._logs[key]
            pending = log.log_end_offset - log.recovery_point
            waited_ms = now_ms - flushed_ms if pending else -1
            if pending >= log.config.flush_messages or waited_ms >= log.config.flush_ms:
                self._flushed_ms[key] = now_ms
                self._context.submit(FlushJob(log, log.log_end_offset))

    def tick_checkpoints(self, now_ms: int) -> None:
        """Every log.flush.offset.checkpoint.interval.ms: recovery points and log starts."""
        if now_ms >= self._checkpoint_due_ms:
            self._checkpoint_due_ms = now_ms + self._times.checkpoint_interval_ms
            for job in self._checkpoints():
                self._context.submit(job)

    def _checkpoints(self) -> list[CheckpointJob]:
        logs = self._logs.items()
        return [
            *self._jobs(checkpoints.RECOVERY_POINT, {key: log.recovery_point for key, log in logs}),
            *self._jobs(checkpoints.LOG_START, {key: log.log_start_offset for key, log in logs}),
        ]

    def save_log_starts(self, directory: str, done: Done) -> None:
        """Checkpoint the log starts of a log directory now."""
        starts = {
            key: self._logs[key].log_start_offset
            for key, log_dir in self._dir_of.items()
            if log_dir.path == directory
        }
        path = f"{directory}/{checkpoints.LOG_START}"
        self._context.submit(CheckpointJob(path, starts, done))

    def write_high_watermarks(self, high_watermarks: Mapping[Key, int]) -> None:
        for job in self._jobs(checkpoints.HIGH_WATERMARK, high_watermarks):
            self._context.submit(job)

    def submit(self, job: DiskJob) -> None:
        """Have slow disk work done."""
        self._context.submit(job)

    def compacted(self) -> list[PartitionLog]:
        """The logs that are compacted."""
        return [self._logs[key] for key in self._compacted]

    def write_cleaner_offsets(self, offsets: Mapping[Key, int]) -> None:
        """Note up to where logs are cleaned; those of others are forgotten."""
        for job in self._jobs(checkpoints.CLEANER, offsets):
            self._context.submit(job)

    def read_cleaner_offsets(self) -> dict[Key, int]:
        """What the checkpoints of all directories said."""
        return self._read_all(checkpoints.CLEANER)

    def read_high_watermarks(self) -> dict[Key, int]:
        """What the checkpoints of all directories said."""
        return self._read_all(checkpoints.HIGH_WATERMARK)

    def _read_all(self, name: str) -> dict[Key, int]:
        found: dict[Key, int] = {}
        for log_dir in self._dirs:
            found.update(log_dir.read_checkpoint(name))
        return found

    def _jobs(self, name: str, offsets: Mapping[Key, int]) -> list[CheckpointJob]:
        """One job for each directory, with the offsets of the logs in it."""
        there: dict[str, dict[Key, int]] = {log_dir.path: {} for log_dir in self._dirs}
        for key, offset in offsets.items():
            if key in self._dir_of:
                there[self._dir_of[key].path][key] = offset
        return [CheckpointJob(f"{path}/{name}", found) for path, found in there.items()]

    # -- the end -----------------------------------------------------------------------------------

    def shutdown(self, broker_epoch: int = -1) -> None:
        """Close all logs cleanly and mark the directories so. Jobs must have run before.

        A directory in which a log cannot be closed is left unmarked: it is recovered next time.
        """
        failed: set[LogDir] = set()
        for key, log in self._logs.items():
            try:
                log.close()
            except (OSError, KafkaError) as error:
                failed.add(self._dir_of[key])
                self._storage_event(log, error)
        for job in self._checkpoints():
            run_now(job)  # before the marks, which vouch for them
        for log_dir in self._dirs:
            if log_dir not in failed:
                log_dir.mark_clean(broker_epoch)
        self._unlock()

    def _unlock(self) -> None:
        for log_dir in self._dirs:
            log_dir.unlock()
