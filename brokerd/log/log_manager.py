"""All logs of a broker, over its log directories: loading, creating, deleting, closing them.

Periodic tasks are in `scheduled_tasks`; slow disk work goes through `submit` (`io.disk_jobs`).

A deleted log is renamed at once and removed later. If a new partition finds the log of an older
topic with the same name, that is renamed to `-stray` and never removed. The first lasting error of
a log directory calls `on_failing`; then `take_failed` takes the directory offline.
"""

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final
from uuid import UUID, uuid4

from brokerd.config.log_config import LogConfig
from brokerd.errors import ErrorCode, KafkaError
from brokerd.log import checkpoint_file, file_names
from brokerd.log.dirs.log_dir import LogDir, LogDirError
from brokerd.log.dirs.log_dirs import FailedDir, LogDirs
from brokerd.log.io.disk_jobs import DiskJob, run_now
from brokerd.log.io.files import sync_filesystem
from brokerd.log.loading import log_loader
from brokerd.log.loading.recover_log import LoadedLog
from brokerd.log.log_context import TRANSIENT_ERRNOS, EventSink, LogContext, no_event, storage_error
from brokerd.log.partition_metadata_file import NIL, TopicIds
from brokerd.log.scheduled_tasks import DEFAULT_INTERVALS, LogTasks, TaskIntervals
from brokerd.log.unified_log import UnifiedLog
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

SYNCED_SINGLY_MAX: Final = 16


class LogManager:
    """Not thread-safe."""

    def __init__(
        self,
        dirs: LogDirs,
        *,
        defaults: LogConfig | None = None,
        on_event: EventSink = no_event,
        submit: Callable[[DiskJob], None] = run_now,
        times: TaskIntervals = DEFAULT_INTERVALS,
    ) -> None:
        """For log directories that are locked; `load` must follow."""
        self.dirs = dirs
        self.on_failing: Callable[[], None] = lambda: None
        self._failing: dict[str, str] = {}
        self._context = LogContext(submit=submit, on_event=on_event)
        self._defaults = defaults or LogConfig()
        self._logs: dict[TopicPartition, UnifiedLog] = {}
        self._contexts: dict[str, LogContext] = {}
        self.tasks = LogTasks(self._logs, dirs, self._context, times, self.disk_failed)
        self._compacted: dict[TopicPartition, None] = {}
        self._topic_ids = TopicIds()

    def load(self, now_ms: int) -> None:
        """Loads all logs. Raises LogDirError; then the directories are unlocked."""
        dirs = self.dirs
        try:
            for log_dir in list(dirs.live):
                try:
                    log_dir.begin_load()
                    self._load(log_dir, now_ms)
                except OSError as error:
                    self._failing[log_dir.path] = storage_error(error).message
                    self.take_failed()
            dirs.require_one()
        except BaseException:
            dirs.unlock()
            raise
        self.tasks.begin(now_ms, recovered=not dirs.were_clean)

    def _load(self, log_dir: LogDir, now_ms: int) -> None:
        recovery_points = log_dir.read_checkpoint(checkpoint_file.RECOVERY_POINT)
        log_starts = log_dir.read_checkpoint(checkpoint_file.LOG_START)
        for name in sorted(entry.name for entry in os.scandir(log_dir.path) if entry.is_dir()):
            path = f"{log_dir.path}/{name}"
            if name.endswith(file_names.DELETE_SUFFIX):
                self._context.trash.add(path, now_ms)
            key = file_names.parse_partition_directory(name)
            if key is None:
                continue
            if key in self._logs:
                raise LogDirError(
                    f"{path} is also in {self.dirs.of[key].path}, and one partition cannot have "
                    "two logs: remove one of the two, that of the log directory which failed last"
                )
            loaded = log_loader.load(
                self._context,
                path,
                log_start_offset=log_starts.get(key, 0),
                recovery_point=recovery_points.get(key),
                clean=log_dir.was_clean,
                now_ms=now_ms,
                config=self._defaults,
            )
            topic_id = self._topic_ids.of(key, path)
            self._add(log_dir, key, topic_id, self._defaults, loaded)
        self.dirs.note_stale({**recovery_points, **log_starts})

    def _add(
        self,
        log_dir: LogDir,
        key: TopicPartition,
        topic_id: UUID,
        config: LogConfig,
        loaded: LoadedLog,
    ) -> UnifiedLog:
        path = log_dir.partition_path(*key)
        log = UnifiedLog(self._context_of(log_dir.path), path, *key, topic_id, config, loaded)
        self._logs[key] = log
        self.dirs.put(key, log_dir)
        self._schedule_tasks(key, config)
        return log

    def _context_of(self, path: str) -> LogContext:
        context = self._contexts.get(path)
        if context is None:
            context = self._contexts[path] = replace(
                self._context,
                on_failure=lambda error: self._dir_failed(path, error),
                on_truncated=lambda: self.tasks.save_recovery_points(path),
            )
        return context

    def _schedule_tasks(self, key: TopicPartition, config: LogConfig) -> None:
        self.tasks.note(key, config)
        if config.is_compacted:
            self._compacted[key] = None
        else:
            self._compacted.pop(key, None)

    # -- the logs ----------------------------------------------------------------------------------

    def get(self, topic: str, partition: int) -> UnifiedLog | None:
        return self._logs.get((topic, partition))

    def all(self) -> list[UnifiedLog]:
        return list(self._logs.values())

    def directory_of(self, topic: str, partition: int) -> str | None:
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
    ) -> UnifiedLog:
        """The log of a partition: the existing one, else a new one. `is_new`: the partition never
        had a record; else its log may be in an offline log directory. Raises KafkaError:
        INCONSISTENT_TOPIC_ID if a partition that is not new has the log of another topic,
        KAFKA_STORAGE_ERROR."""
        key = (topic, partition)
        log = self._logs.get(key)
        if log is not None and is_new and log.topic_id not in (NIL, topic_id):
            stray = f"{log.directory}.{uuid4().hex}{file_names.STRAY_SUFFIX}"
            logger.warning("%s is of an older topic: set aside as %s", log.directory, stray)
            self._rename_log(log, stray)
            log = None
        if log is not None:
            try:
                self._topic_ids.adopt(log, topic_id)
            except OSError as error:
                raise self._dir_failed(log.directory, error) from error
            self.reconfigure(topic, partition, config)
            return log
        self.dirs.refuse_if_maybe_offline(key, is_new=is_new)
        return self._create(key, topic_id, config, now_ms)

    def _create(
        self, key: TopicPartition, topic_id: UUID, config: LogConfig, now_ms: int
    ) -> UnifiedLog:
        """Creates it in the log directory with the fewest logs, or in the next if that fails."""
        try:
            self.tasks.forget_older_log(key)
        except OSError as error:
            raise self._dir_failed(error.filename or "", error) from error
        refusal = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no log directory is left")
        for log_dir in sorted(self.dirs.live, key=lambda each: each.partitions):
            try:
                loaded = log_dir.create(self._context, *key, topic_id, now_ms)
            except FileExistsError as error:
                raise KafkaError(
                    ErrorCode.KAFKA_STORAGE_ERROR, f"{error.filename} is in the way: remove it"
                ) from error
            except OSError as error:
                refusal = self._dir_failed(log_dir.path, error)
            else:
                return self._add(log_dir, key, topic_id, config, loaded)
        raise refusal

    def reconfigure(self, topic: str, partition: int, config: LogConfig) -> None:
        log = self._logs[topic, partition]
        if log.config != config:
            log.reconfigure(config)
            self._schedule_tasks((topic, partition), config)

    def delete(self, topic: str, partition: int, now_ms: int) -> None:
        """Renames the directory of a log, to be removed later. Raises KafkaError."""
        log = self._logs.get((topic, partition))
        if log is None:
            return
        name = file_names.deleted_directory(topic, partition, uuid4())
        path = f"{os.path.dirname(log.directory)}/{name}"
        self._rename_log(log, path)
        self._context.trash.add(path, now_ms + log.config.file_delete_delay_ms)
        self._context.on_event("delete", {"topic": topic, "partition": partition})

    def _rename_log(self, log: UnifiedLog, path: str) -> None:
        key = (log.topic, log.partition)
        try:
            log.abandon()
            os.rename(log.directory, path)
        except OSError as error:
            raise self._dir_failed(log.directory, error) from error
        self.dirs.remove(key)
        self._forget(key)

    def _forget(self, key: TopicPartition) -> None:
        del self._logs[key]
        self.tasks.forget(key)
        self._compacted.pop(key, None)
        self._topic_ids.forget(key)

    # -- disks that fail ---------------------------------------------------------------------------

    def _dir_failed(self, path: str, error: OSError) -> KafkaError:
        """The log directory at or above `path` has failed."""
        refusal = storage_error(error)
        log_dir = self.dirs.at(path)
        if log_dir is None or log_dir.path in self._failing or error.errno in TRANSIENT_ERRNOS:
            return refusal
        self._failing[log_dir.path] = refusal.message
        self.on_failing()
        return refusal

    def join(self, cluster_id: str) -> None:
        """Writes the cluster id into each log directory; one that cannot be written has failed.
        Raises LogDirError for a directory of another cluster."""
        for log_dir in self.dirs.live:
            try:
                log_dir.join(cluster_id)
            except OSError as error:
                refusal = self._dir_failed(log_dir.path, error)
                logger.error("the cluster id could not be noted: %s", refusal.message)

    def disk_failed(self, error: OSError | None) -> None:
        """As `_dir_failed`, for the log directory of the file that an error names."""
        if error is not None:
            self._dir_failed(error.filename or "", error)

    def take_failed(self) -> list[FailedDir]:
        """Takes failed log directories offline. Not to be called within other methods."""
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

    def compacted(self) -> list[UnifiedLog]:
        return [self._logs[key] for key in self._compacted]

    # -- shutdown --------------------------------------------------------------------------------

    def shutdown(self) -> None:
        """Closes all logs cleanly and marks the log directories so. All jobs must be done. A
        directory in which that fails gets no mark: it is recovered at the next start."""
        for path, reason in close_all(self._logs.values()).items():
            self._failing.setdefault(path, reason)
        self.tasks.write_checkpoints()  # before the marks of a clean stop
        for log_dir in self.dirs.live:
            try:
                if log_dir.path not in self._failing:
                    log_dir.mark_clean()
            except OSError as error:
                self._failing[log_dir.path] = storage_error(error).message
        for path, reason in self._failing.items():
            logger.error("%s could not be closed cleanly and is recovered at the next start: %s",
                         path, reason)  # fmt: skip
        self.dirs.unlock()


def close_all(logs: Iterable[UnifiedLog]) -> dict[str, str]:
    """Closes logs cleanly: afterwards every recovery point is the log end. Returns the log
    directories with a log that could not be closed, and the reason."""
    failures: dict[str, str] = {}
    dirty: dict[str, list[UnifiedLog]] = {}
    everything = list(logs)
    for log in everything:
        path = os.path.dirname(log.directory)
        try:
            if log.finish_writing():
                dirty.setdefault(path, []).append(log)
        except Exception as error:  # the other logs are still closed cleanly
            failures.setdefault(path, _reason(error))
    for path, unsynced in dirty.items():
        try:
            _sync(path, unsynced)
        except Exception as error:
            failures.setdefault(path, _reason(error))
    for log in everything:
        log.local.close_files()
    return failures


def _sync(path: str, logs: list[UnifiedLog]) -> None:
    """A few segments are synced one by one; for more, the file system writes everything at once
    (syncfs), since a thousand fsyncs are a thousand commits of its journal."""
    unsynced = sum(
        len(log.local.segments.between(log.recovery_point, log.log_end_offset)) for log in logs
    )
    if unsynced > SYNCED_SINGLY_MAX:
        sync_filesystem(path)
        for log in logs:
            log.local.flushed_to(log.log_end_offset)
        return
    for log in logs:
        log.flush()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return storage_error(error).message
    if isinstance(error, KafkaError):
        return error.message
    return f"{type(error).__name__}: {error}"
