"""All logs of a broker, over its log directories: loading, creating, deleting, the regular duties.

Loading: lock every directory, see whether it was left cleanly, then open each partition (with
recovery where the stop was not clean). Duties are `tick_…` methods that the server calls about once
a second with the time; each knows when it is due and does a bounded slice. Slow disk work goes
through `submit` (see `context.DiskJob`).

A deleted partition is renamed at once and removed later; the log of an older topic of the same name
is set aside as `-stray` for a partition that is new, never removed. An error of a disk, wherever it
comes up, is noted and told to `on_failing`; `take_failed` then takes the log directory offline.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid4

from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import checkpoints, crash_points, loader, names
from brokerd.log.checkpoint_job import CheckpointJob, Done
from brokerd.log.context import (
    NOT_THE_DISKS,
    DiskJob,
    EventSink,
    LogContext,
    RemoveJob,
    no_event,
    run_now,
    storage_error,
)
from brokerd.log.log_config import INT64_MAX, LogConfig
from brokerd.log.log_dir import LogDir, LogDirError
from brokerd.log.log_dirs import FailedDir, Key, LogDirs
from brokerd.log.partition_log import PartitionLog
from brokerd.log.topic_ids import NIL, TopicIds

logger = logging.getLogger(__name__)

RETENTION_SLICE: Final = 200

_rename = crash_points.around("directory-rename")(os.rename)


@dataclass(frozen=True, slots=True, kw_only=True)
class DutyTimes:
    """How often duties are due; Kafka's defaults."""

    retention_interval_ms: int = 300_000
    checkpoint_interval_ms: int = 60_000


DEFAULT_TIMES: Final = DutyTimes()


class LogManager:
    """See the module. Not thread-safe."""

    def __init__(
        self,
        dirs: LogDirs,
        *,
        defaults: LogConfig | None = None,
        on_event: EventSink = no_event,
        submit: Callable[[DiskJob], None] = run_now,
        times: DutyTimes = DEFAULT_TIMES,
    ) -> None:
        """For directories just locked; `open` also loads what is in them."""
        self.dirs = dirs
        self.on_failing: Callable[[], None] = lambda: None
        self._failing: dict[str, str] = {}
        self._context = LogContext(submit=submit, on_event=on_event)
        self._defaults = defaults or LogConfig()
        self._times = times
        self._logs: dict[Key, PartitionLog] = {}
        self._retention_round: Iterator[PartitionLog] = iter(())
        self._retention_due_ms = self._checkpoint_due_ms = 0
        self._flushed_ms: dict[Key, int] = {}
        self._compacted: dict[Key, None] = {}
        self._topic_ids = TopicIds()

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
        dirs = LogDirs(log_dirs, broker_id, cluster_id)
        manager = cls(dirs, defaults=defaults, on_event=on_event, submit=submit, times=times)
        try:
            for log_dir in list(dirs.live):
                manager._load_or_fail(log_dir, now_ms)
            dirs.require_one()
        except BaseException:
            dirs.unlock()
            raise
        manager._retention_due_ms = now_ms + times.retention_interval_ms
        manager._checkpoint_due_ms = now_ms + times.checkpoint_interval_ms
        return manager

    def _load_or_fail(self, log_dir: LogDir, now_ms: int) -> None:
        try:
            self._load(log_dir, now_ms)
        except OSError as error:
            self._failing[log_dir.path] = storage_error(error).message
            self.take_failed()

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
                    f"{path} is also in {self.dirs.of[key].path}, and one partition cannot have "
                    "two logs: remove one of the two, that of the log directory which failed last"
                )
            loaded = loader.load(
                self._context,
                path,
                log_start_offset=log_starts.get(key, 0),
                recovery_point=recovery_points.get(key),
                clean=log_dir.was_clean,
                now_ms=now_ms,
            )
            topic_id = self._topic_ids.of(key, path)
            self._add(log_dir, key, topic_id, self._defaults, loaded)

    def _add(
        self, log_dir: LogDir, key: Key, topic_id: UUID, config: LogConfig, loaded: loader.LoadedLog
    ) -> PartitionLog:
        path = log_dir.partition_path(*key)
        context = replace(
            self._context, on_failure=lambda error: self._disk_failed(log_dir.path, error)
        )
        log = PartitionLog(context, path, *key, topic_id, config, loaded)
        self._logs[key] = log
        self.dirs.put(key, log_dir)
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

    def directory_of(self, topic: str, partition: int) -> str | None:
        """The log directory that holds a partition."""
        log_dir = self.dirs.of.get((topic, partition))
        return log_dir.path if log_dir else None

    def create(
        self,
        topic: str,
        partition: int,
        topic_id: UUID,
        config: LogConfig,
        now_ms: int,
        *,
        is_new: bool = True,
    ) -> PartitionLog:
        """The log of a partition: the one that is there, else a new, empty one.

        `is_new` says that it never had a record: else it may lie where it cannot be seen now.
        Raises KafkaError: INCONSISTENT_TOPIC_ID where one that is not new has another topic's log,
        KAFKA_STORAGE_ERROR, also for one whose topic id cannot be read.
        """
        key = (topic, partition)
        log = self._logs.get(key)
        if log is not None and is_new and log.topic_id not in (NIL, topic_id):
            stray = f"{log.directory}.{uuid4().hex}{names.STRAY_SUFFIX}"
            logger.warning("%s is of an older topic: set aside as %s", log.directory, stray)
            self._set_aside(log, stray)
            log = None
        if log is not None:
            try:
                self._topic_ids.adopt(log, topic_id)
            except OSError as error:
                raise self._disk_failed(log.directory, error) from error
            self.reconfigure(topic, partition, config)
            return log
        self.dirs.require_seen(key, is_new=is_new)
        told = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no log directory is left")
        for log_dir in self.dirs.by_load():
            try:
                loaded = log_dir.create(self._context, *key, topic_id, now_ms)
            except FileExistsError as error:
                raise KafkaError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"{error.filename} is in the way: remove it"
                ) from error
            except OSError as error:
                told = self._disk_failed(log_dir.path, error)
            else:
                return self._add(log_dir, key, topic_id, config, loaded)
        raise told

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
        key = (log.topic, log.partition)
        try:
            log.abandon()
            _rename(log.directory, path)
        except OSError as error:
            raise self._disk_failed(log.directory, error) from error
        self.dirs.remove(key)
        self._forget(key)

    def _forget(self, key: Key) -> None:
        del self._logs[key]
        self._flushed_ms.pop(key, None)
        self._compacted.pop(key, None)
        self._topic_ids.forget(key)

    # -- disks that fail ---------------------------------------------------------------------------

    def _disk_failed(self, path: str, error: OSError) -> KafkaError:
        """Note that the log directory at or above `path` cannot be trusted any more."""
        told = storage_error(error)
        log_dir = self.dirs.at(path)
        if log_dir is None or log_dir.path in self._failing or error.errno in NOT_THE_DISKS:
            return told
        self._failing[log_dir.path] = told.message
        self.on_failing()
        return told

    def _job_failed(self, error: OSError) -> None:
        self._disk_failed(error.filename or "", error)

    def take_failed(self) -> list[FailedDir]:
        """Take the log directories offline whose disks have failed; call it outside of all else."""
        failing, self._failing = self._failing, {}
        taken = []
        for path, reason in failing.items():
            keys = self.dirs.fail(path, reason)
            for key in keys:
                self._logs[key].abandon()
                self._forget(key)
            taken.append(FailedDir(path, reason, keys))
            self._context.on_event(
                "log_dir_failed", {"path": path, "reason": reason, "partitions": len(keys)}
            )
        return taken

    # -- duties ------------------------------------------------------------------------------------

    def tick_retention(self, now_ms: int) -> None:
        """Every log.retention.check.interval.ms: old segments go, in slices."""
        if now_ms >= self._retention_due_ms:
            self._retention_due_ms = now_ms + self._times.retention_interval_ms
            self._retention_round = iter(self.all())
        for _, log in zip(range(RETENTION_SLICE), self._retention_round, strict=False):
            if self.get(log.topic, log.partition) is log:
                self._retain(log, now_ms)

    def _retain(self, log: PartitionLog, now_ms: int) -> None:
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
            self._context.submit(RemoveJob(due, self._job_failed))

    def flush_due(self, now_ms: int) -> None:
        """Sync the logs whose flush.ms or flush.messages has passed."""
        for key, flushed_ms in self._flushed_ms.items():
            log = self._logs[key]
            pending = log.log_end_offset - log.recovery_point
            waited_ms = now_ms - flushed_ms if pending else -1
            if pending >= log.config.flush_messages or waited_ms >= log.config.flush_ms:
                self._flushed_ms[key] = now_ms
                with suppress(KafkaError):  # whose log directory goes offline for it
                    log.begin_flush(log.log_end_offset)

    def tick_checkpoints(self, now_ms: int) -> None:
        """Every log.flush.offset.checkpoint.interval.ms: recovery points and log starts."""
        if now_ms >= self._checkpoint_due_ms:
            self._checkpoint_due_ms = now_ms + self._times.checkpoint_interval_ms
            for job in self._checkpoints():
                self._context.submit(job)

    def _checkpoints(self) -> list[CheckpointJob]:
        starts = {key: log.log_start_offset for key, log in self._logs.items()}
        points = {key: log.recovery_point for key, log in self._logs.items()}
        return [
            *self.dirs.checkpoint(checkpoints.RECOVERY_POINT, points, self._job_failed),
            *self.dirs.checkpoint(checkpoints.LOG_START, starts, self._job_failed),
        ]

    def save_log_starts(self, directory: str, done: Done) -> None:
        """Checkpoint the log starts of a log directory now."""
        starts = {
            key: self._logs[key].log_start_offset
            for key, log_dir in self.dirs.of.items()
            if log_dir.path == directory
        }

        def finish(error: OSError | None) -> None:
            if error is not None:
                self._job_failed(error)
            done(error)

        path = f"{directory}/{checkpoints.LOG_START}"
        self._context.submit(CheckpointJob(path, starts, finish))

    def write_offsets(self, name: str, offsets: Mapping[Key, int]) -> None:
        """Checkpoint offsets of logs in the directories where they lie; others are forgotten."""
        for job in self.dirs.checkpoint(name, offsets, self._job_failed):
            self._context.submit(job)

    def compacted(self) -> list[PartitionLog]:
        """The logs that are compacted."""
        return [self._logs[key] for key in self._compacted]

    # -- the end -----------------------------------------------------------------------------------

    def shutdown(self, broker_epoch: int = -1) -> None:
        """Close all logs cleanly and mark the directories so. Jobs must have run before.

        A directory in which a log cannot be closed is left unmarked: it is recovered next time.
        """
        for key, log in self._logs.items():
            try:
                log.close()
            except (OSError, KafkaError) as error:
                self._failing.setdefault(self.dirs.of[key].path, str(error))
                self._storage_event(log, error)
        for job in self._checkpoints():
            run_now(job)  # before the marks, which vouch for them
        for log_dir in self.dirs.live:
            try:
                if log_dir.path not in self._failing:
                    log_dir.mark_clean(broker_epoch)
            except OSError as error:
                self._failing[log_dir.path] = storage_error(error).message
        for path, reason in self._failing.items():
            logger.error("%s could not be closed cleanly and is recovered at the next start: %s",
                         path, reason)  # fmt: skip
        self.dirs.unlock()
