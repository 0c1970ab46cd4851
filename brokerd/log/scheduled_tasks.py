"""Periodic tasks of all logs (those that Kafka's LogManager.startup schedules): retention,
checkpoints, flushes, removal of deleted files.

The scheduler calls each `tick_…` about once a second, more often if its interval is shorter. It
does a slice of a few milliseconds if it is due, and returns whether more is due now. A round ends
before the next one begins; only a limited number of flushes and removals wait at once.
"""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.integer_ranges import INT64_MAX
from brokerd.log import checkpoint_file
from brokerd.log.checkpoint_writer import CheckpointWriter, OffsetOf
from brokerd.log.delete_old_segments import delete_old_segments
from brokerd.log.dirs.log_dirs import LogDirs
from brokerd.log.io.disk_jobs import RemoveJob
from brokerd.log.log_context import LogContext
from brokerd.log.offset_checkpoint_file import Done
from brokerd.log.unified_log import UnifiedLog
from brokerd.topic_partition import TopicPartition

RETENTION_SLICE: Final = 50
DELETION_WEIGHT: Final = 10
"""To delete a segment takes four renames, often a roll, too: ten times as long as to look at it."""
FLUSH_SLICE: Final = 1_000
FLUSHES_MAX: Final = 64
REMOVALS_MAX: Final = 100
INITIAL_DELAY_MS: Final = 30_000
FLUSH_LOOK_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskIntervals:
    """The intervals of tasks. The defaults are Kafka's, except that Kafka flushes only if
    log.flush.scheduler.interval.ms is set. `retains_compacted`: retention of compacted logs is done
    by Kafka's cleaner, so it is off without log.cleaner.enable (LogManager.cleanupLogs)."""

    retention_interval_ms: int = 300_000
    checkpoint_interval_ms: int = 60_000
    log_start_interval_ms: int = 60_000
    flush_interval_ms: int = FLUSH_LOOK_MS
    retains_compacted: bool = True


DEFAULT_INTERVALS: Final = TaskIntervals()


class LogTasks:
    """`logs` are those of the manager; `failed` is called after each job, with an error of the
    disk."""

    def __init__(
        self,
        logs: Mapping[TopicPartition, UnifiedLog],
        dirs: LogDirs,
        context: LogContext,
        times: TaskIntervals,
        failed: Done,
    ) -> None:
        self._logs = logs
        self._dirs = dirs
        self._context = context
        self._failed = failed
        self._times = times
        self._retention: Iterator[UnifiedLog] | None = None
        self._flushable: dict[TopicPartition, int | None] = {}  # when it was last synced or seen
        self._flush: Iterator[TopicPartition] | None = None
        self._flushing: set[TopicPartition] = set()
        self._is_removing = False
        self._saving: dict[str, bool] = {}
        self._retention_due_ms = self._flush_due_ms = 0
        self._recovery_points_due_ms = self._log_starts_due_ms = 0
        self._rounds: list[CheckpointWriter] = []
        self._recovery_points = self.round(checkpoint_file.RECOVERY_POINT)
        self._log_starts = self.round(checkpoint_file.LOG_START)

    def round(self, name: str) -> CheckpointWriter:
        """A checkpoint of all logs, to be collected in slices."""
        made = CheckpointWriter(self._dirs, name, self._context.submit, self._failed)
        self._rounds.append(made)
        return made

    def begin(self, now_ms: int, *, recovered: bool) -> None:
        """The logs are loaded: the intervals begin. After a recovery the recovery points may be
        lower, and are checkpointed soon."""
        times = self._times
        self._retention_due_ms = now_ms + min(times.retention_interval_ms, INITIAL_DELAY_MS)
        self._recovery_points_due_ms = now_ms + (0 if recovered else times.checkpoint_interval_ms)
        self._log_starts_due_ms = now_ms + (0 if recovered else times.log_start_interval_ms)

    def note(self, key: TopicPartition, config: LogConfig) -> None:
        if config.flush_ms < INT64_MAX or config.flush_messages < INT64_MAX:
            self._flushable.setdefault(key, None)
        else:
            self._flushable.pop(key, None)

    def forget(self, key: TopicPartition) -> None:
        self._flushable.pop(key, None)

    def forget_older_log(self, key: TopicPartition) -> None:
        """A log is about to be created: clears the checkpoints' entries of an older log with its
        name. Raises OSError. They are synced before anything of the new log is."""
        for round_ in self._rounds:
            round_.forget_log(key)
        for file in self._dirs.forget_older_log(key):
            job = file.sync_job(self._failed)
            if job is not None:
                self._context.submit(job)

    # -- retention ---------------------------------------------------------------------------------

    def tick_retention(self, now_ms: int) -> bool:
        """Deletes old segments, every log.retention.check.interval.ms."""
        if self._retention is None:
            if now_ms < self._retention_due_ms:
                return False
            self._retention_due_ms = now_ms + self._times.retention_interval_ms
            self._retention = iter(list(self._logs.values()))
        left = RETENTION_SLICE
        while left > 0:
            log = next(self._retention, None)
            if log is None:
                self._retention = None
                return False
            left -= 1
            if self._logs.get((log.topic, log.partition)) is log:
                left -= self._retain(log, now_ms) * DELETION_WEIGHT
        return True

    def _retain(self, log: UnifiedLog, now_ms: int) -> int:
        """Applies retention to a log; returns the number of segments deleted."""
        if log.config.is_compacted and not self._times.retains_compacted:
            return 0
        try:
            return len(delete_old_segments(log, now_ms, log.high_watermark))
        except KafkaError as error:
            detail = {"topic": log.topic, "partition": log.partition, "error": str(error)}
            self._context.on_event("storage_error", detail)
            return 0

    # -- removing ----------------------------------------------------------------------------------

    def tick_delete(self, now_ms: int) -> bool:
        """Removes files that were renamed long enough ago."""
        trash = self._context.trash
        if not self._is_removing:
            due = trash.take_due(now_ms, REMOVALS_MAX)
            if due:
                self._is_removing = True
                self._context.submit(RemoveJob(due, self._removed))
        return trash.is_due(now_ms)

    def _removed(self, error: OSError | None) -> None:
        self._is_removing = False
        self._failed(error)

    # -- flushing ----------------------------------------------------------------------------------

    def tick_flush(self, now_ms: int) -> bool:
        """Syncs the logs whose flush.ms or flush.messages is reached."""
        if self._flush is None:
            if now_ms < self._flush_due_ms or not self._flushable:
                return False
            self._flush_due_ms = now_ms + self._times.flush_interval_ms
            self._flush = iter(list(self._flushable))
        for _ in range(FLUSH_SLICE):
            if len(self._flushing) >= FLUSHES_MAX:
                break
            key = next(self._flush, None)
            if key is None:
                self._flush = None
                break
            if key in self._flushable and key not in self._flushing:
                self._flush_if_due(key, now_ms)
        return self._flush is not None

    def _flush_if_due(self, key: TopicPartition, now_ms: int) -> None:
        log = self._logs[key]
        since_ms = self._flushable[key]
        if since_ms is None:  # noted since the last check
            self._flushable[key] = since_ms = now_ms
        pending = log.log_end_offset - log.recovery_point
        waited_ms = now_ms - since_ms if pending else -1
        if pending >= log.config.flush_messages or waited_ms >= log.config.flush_ms:
            self._flushable[key] = now_ms
            self._flushing.add(key)
            try:
                log.local.begin_flush(log.log_end_offset, partial(self._flushing.discard, key))
            except KafkaError:  # its log directory is taken offline
                self._flushing.discard(key)

    # -- checkpoints -------------------------------------------------------------------------------

    def tick_checkpoints(self, now_ms: int) -> bool:
        """Checkpoints the recovery points every log.flush.offset.checkpoint.interval.ms, and the
        log starts every log.flush.start.offset.checkpoint.interval.ms."""
        if not self._recovery_points.is_under_way and now_ms >= self._recovery_points_due_ms:
            self._recovery_points_due_ms = now_ms + self._times.checkpoint_interval_ms
            self._recovery_points.begin(list(self._logs), self._recovery_point)
        if not self._log_starts.is_under_way and now_ms >= self._log_starts_due_ms:
            self._log_starts_due_ms = now_ms + self._times.log_start_interval_ms
            self._log_starts.begin(list(self._logs), self._log_start)
        return self._recovery_points.step() or self._log_starts.step()

    def _recovery_point(self, key: TopicPartition) -> int | None:
        log = self._logs.get(key)
        return log.recovery_point if log is not None else None

    def _log_start(self, key: TopicPartition) -> int | None:
        """What is checkpointed; None for the first segment's base offset: as in Kafka, no entry."""
        log = self._logs.get(key)
        if log is None or log.log_start_offset <= log.local.segments[0].base_offset:
            return None
        return log.log_start_offset

    def write_checkpoints(self) -> None:
        """Writes both checkpoints at once."""
        keys = list(self._logs)
        self._recovery_points.run(keys, self._recovery_point)
        self._log_starts.run(keys, self._log_start)

    def save_log_starts(self, directory: str, done: Done) -> None:
        """Checkpoints the log starts of a log directory now."""
        self._save(self._log_starts, checkpoint_file.LOG_START, directory, self._log_start, done)

    def save_recovery_points(self, directory: str) -> None:
        """Checkpoints the recovery points of a log directory, since one has decreased: records that
        are appended now must not count as durable (LogManager.truncateTo). If many logs are cut at
        once, the last ones share one write."""
        if directory in self._saving:
            self._saving[directory] = True
            return
        self._saving[directory] = False

        def done(error: OSError | None) -> None:
            if self._saving.pop(directory) and error is None:
                self.save_recovery_points(directory)

        name = checkpoint_file.RECOVERY_POINT
        self._save(self._recovery_points, name, directory, self._recovery_point, done)

    def _save(
        self, round_: CheckpointWriter, name: str, directory: str, offset_of: OffsetOf, done: Done
    ) -> None:
        """Writes a checkpoint, but for no directory that is offline: its logs would be missing."""
        log_dir = self._dirs.at(directory)
        if log_dir is None:
            done(OSError(errno.EIO, "the log directory is offline", directory))
            return
        found = {
            key: offset
            for key in self._logs
            if self._dirs.of[key] is log_dir and (offset := offset_of(key)) is not None
        }

        def finish(error: OSError | None) -> None:
            self._failed(error)
            done(error)

        round_.forget(directory)
        self._context.submit(log_dir.checkpoints[name].job(found, finish))
