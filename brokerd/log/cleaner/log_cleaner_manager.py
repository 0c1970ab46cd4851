"""Compaction in the broker: which log is cleaned next, and how cleaned segments replace old ones.

`tick` checks the compacted logs, some at a time, and gives the dirtiest to workers; after a check
without any it waits for log.cleaner.backoff.ms. A worker only writes `.cleaned` files. The event
loop decides here whether they are still valid (the log may have been cut or deleted meanwhile),
renames them and writes the checkpoint.

A log whose cleaning failed is uncleanable until it is cut or created anew, or the broker restarts.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from brokerd.config.log_config import LogConfig
from brokerd.errors import KafkaError
from brokerd.log import checkpoint_file
from brokerd.log.checkpoint_writer import CheckpointWriter
from brokerd.log.cleaner import cleanable_offsets, replace_segments
from brokerd.log.cleaner.cleanable_offsets import LogToClean
from brokerd.log.cleaner.worker_messages import Job, Limits, RoundDone, SegmentGroupDone
from brokerd.log.log_manager import LogManager
from brokerd.log.unified_log import UnifiedLog
from brokerd.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

LOOK_SLICE: Final = 200
DEATHS_MAX: Final = 2


@dataclass(slots=True)
class CleanerMetrics:
    """What was done since the start; of the last check, when it began and how dirty the dirtiest
    log was; of the last round, how long it took, how full its map was, how late it came."""

    rounds: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    worker_deaths: int = 0
    looked_ms: int = 0
    dirtiest: float = 0.0
    round_ms: int = 0
    round_kept: float = 0.0
    round_map_used: float = 0.0
    round_late_ms: int = 0


class Listener(Protocol):
    def group_done(self, group: SegmentGroupDone) -> bool: ...

    def round_done(self, done: RoundDone) -> None: ...

    def worker_died(self) -> None: ...


class Workers(Protocol):
    """Does jobs, and calls the listener in the thread that uses the logs."""

    @property
    def free(self) -> int: ...

    def run(self, job: Job, listener: Listener) -> None: ...

    def rest(self) -> None:
        """There is no job for now: the workers may end."""


@dataclass(slots=True)
class _Known:
    """What is known of one log; invalid once the log was replaced or cut."""

    log: UnifiedLog
    checkpoint: int
    truncations: int
    is_busy: bool = False
    deaths: int = 0
    uncleanable_because: str = ""
    held_at: int = -1


@dataclass(slots=True)
class LogCleanerManager:
    """See the module. Not thread-safe."""

    logs: LogManager
    workers: Workers
    now_ms: Callable[[], int]
    backoff_ms: int = 15_000
    limits: Limits = field(default_factory=Limits)
    metrics: CleanerMetrics = field(default_factory=CleanerMetrics)
    _known: dict[TopicPartition, _Known] = field(default_factory=dict)
    _stored: dict[TopicPartition, _Known] = field(init=False)
    _round: CheckpointWriter = field(init=False)
    _look: Iterator[None] | None = None
    _found: list[tuple[float, _Known, LogToClean]] = field(default_factory=list)
    _dirtiest: float = 0.0
    _due_ms: int = 0

    def __post_init__(self) -> None:
        self._round = self.logs.tasks.round(checkpoint_file.CLEANER)
        self._stored = {
            key: _Known(log, checkpoint, log.local.truncations)
            for key, checkpoint in self.logs.dirs.read(checkpoint_file.CLEANER).items()
            if (log := self.logs.get(*key)) is not None and checkpoint <= log.log_end_offset
        }

    @property
    def uncleanable(self) -> dict[TopicPartition, str]:
        return {
            key: known.uncleanable_because
            for key, known in self._known.items()
            if known.uncleanable_because and self.is_unchanged(known)
        }

    @property
    def held(self) -> dict[TopicPartition, int]:
        """The logs that an open transaction keeps from being cleaned, with its first offset."""
        return {
            key: known.held_at
            for key, known in self._known.items()
            if known.held_at >= 0 and self.is_unchanged(known)
        }

    @property
    def uncleanable_bytes(self) -> int:
        """The dirty bytes of uncleanable logs; all bytes of those that cannot be read."""
        now_ms = self.now_ms()
        return sum(
            cleanable_offsets.dirty_bytes(known.log, known.checkpoint, now_ms)
            for known in self._known.values()
            if known.uncleanable_because and self.is_unchanged(known)
        )

    def dirty_part_of(self, log: UnifiedLog, stable_offset: int) -> LogToClean | None:
        """The clean and the dirty bytes of a compacted log below its last stable offset; None if
        the log is uncleanable. Raises OSError, KafkaError."""
        known = self._known_of(log)
        is_unchanged = self.is_unchanged(known)
        if is_unchanged and known.uncleanable_because:
            return None
        checkpoint = known.checkpoint if is_unchanged else 0
        return cleanable_offsets.dirty_part(log, checkpoint, stable_offset, self.now_ms())

    @property
    def busy(self) -> int:
        return sum(known.is_busy for known in self._known.values())

    # -- choosing ----------------------------------------------------------------------------------

    def tick(self, now_ms: int) -> bool:
        """Checks some logs, or has the dirtiest cleaned. Returns whether there are more."""
        if self._look is None:
            if now_ms < self._due_ms or not self.workers.free:
                return False
            self.metrics.looked_ms = now_ms
            self._dirtiest = 0.0
            self._found = []
            self._look = self._steps(now_ms)
        if any(True for _ in islice(self._look, LOOK_SLICE - 1, LOOK_SLICE)):
            return True
        self._look = None
        self.metrics.dirtiest = self._dirtiest
        self._choose(now_ms)
        return False

    def _steps(self, now_ms: int) -> Iterator[None]:
        """A check of all logs, one at a time; first those with lost jobs."""
        has_lost = False
        for key, known in list(self._known.items()):
            if not known.is_busy and not self.is_unchanged(known):
                has_lost = True  # gone or cut; what the checkpoint says of it is void
                del self._known[key]
            yield
        if has_lost:
            self.checkpoint()
        for log in self.logs.compacted():
            if self.logs.get(log.topic, log.partition) is log:
                self._look_at(log, now_ms)
            yield

    def _look_at(self, log: UnifiedLog, now_ms: int) -> None:
        known = self._known_of(log)
        if known.is_busy or known.uncleanable_because or not self.is_unchanged(known):
            return
        try:
            dirty = cleanable_offsets.dirty_part(log, known.checkpoint, log.high_watermark, now_ms)
        except (OSError, KafkaError) as error:
            self.failed(known, str(error))
            return
        self._dirtiest = max(self._dirtiest, dirty.ratio)
        if is_cleanable(dirty, log.config):
            self._found.append((dirty.ratio, known, dirty))
        else:
            known.held_at = -1

    def _known_of(self, log: UnifiedLog) -> _Known:
        key = (log.topic, log.partition)
        known = self._known.get(key)
        if known is None:
            known = self._stored.pop(key, None)
            if known is None or not self.is_unchanged(known):  # of an older topic, say
                known = _Known(log, 0, log.local.truncations)
            self._known[key] = known
        return known

    def _choose(self, now_ms: int) -> None:
        self._found.sort(key=lambda found: found[0], reverse=True)
        started = False
        for _, known, dirty in self._found:
            if not self.workers.free:
                break
            started |= self._start(known, dirty, now_ms)
        self._found = []
        if not started:
            self._due_ms = now_ms + self.backoff_ms
            if not self.busy:
                self.workers.rest()

    def _start(self, known: _Known, whole: LogToClean, now_ms: int) -> bool:
        """Has a log cleaned, or first made durable; returns whether there was anything to do.
        `whole` is what could be cleaned without open transactions."""
        log = known.log
        if not self.is_unchanged(known):
            return False
        try:
            log.prepare_first_use()
            if not self.is_unchanged(known):
                return False
            stable_offset = log.last_stable_offset(log.high_watermark)
            dirty = cleanable_offsets.dirty_part(log, known.checkpoint, stable_offset, now_ms)
            is_held = stable_offset < log.high_watermark and dirty.end_offset < whole.end_offset
            known.held_at = stable_offset if is_held else -1
            if not is_cleanable(dirty, log.config):
                return False
            if log.recovery_point < dirty.end_offset:  # what replaces records must outlast them
                log.local.begin_flush(dirty.end_offset)
                return True
            self.metrics.round_late_ms = dirty.late_ms
            job = self._job(log, dirty, now_ms)
        except (OSError, KafkaError) as error:
            self.failed(known, str(error))
            return False
        known.is_busy = True
        self.workers.run(job, _Round(self, known, job))
        return True

    def _job(self, log: UnifiedLog, dirty: LogToClean, now_ms: int) -> Job:
        config = log.config
        closed = cleanable_offsets.closed_segments(log)
        return Job(
            directory=log.directory,
            segments=[
                (each.base_offset, cleanable_offsets.end_of(log, each), each.size_bytes)
                for each in closed
                if cleanable_offsets.end_of(log, each) <= dirty.end_offset
            ],
            dirty_start=dirty.start_offset,
            now_ms=now_ms,
            delete_retention_ms=config.delete_retention_ms,
            segment_bytes=config.segment_bytes,
            segment_index_bytes=config.segment_index_bytes,
            index_interval_bytes=config.index_interval_bytes,
            producers=[
                (id_, entry.epoch, entry.batches[-1].last_offset if entry.batches else -1)
                for id_, entry in log.producers.entries.items()
            ],
            aborted_later=cleanable_offsets.aborted_across(log, dirty.end_offset),
            limits=self.limits,
        )

    # -- taking in ---------------------------------------------------------------------------------

    def is_unchanged(self, known: _Known) -> bool:
        """Whether a log is still the one that a job was made for."""
        log = known.log
        return (
            self.logs.get(log.topic, log.partition) is log
            and log.local.truncations == known.truncations
        )

    def finished(self, known: _Known, done: RoundDone, began_ms: int) -> None:
        log = known.log
        self.metrics.round_ms = self.now_ms() - began_ms
        self.metrics.round_kept = done.written_bytes / done.read_bytes if done.read_bytes else 0.0
        self.metrics.round_map_used = done.map_used
        self.metrics.read_bytes += done.read_bytes
        self.metrics.written_bytes += done.written_bytes
        if done.end_offset < 0 or not self.is_unchanged(known):
            return
        self.metrics.rounds += 1
        known.checkpoint = done.end_offset
        known.deaths = 0
        logger.info(
            "cleaned %s-%d up to offset %d: %d of %d records stay, %d of %d bytes",
            log.topic, log.partition, done.end_offset, done.records_after, done.records_before,
            done.written_bytes, done.read_bytes,
        )  # fmt: skip
        self.checkpoint()

    def checkpoint(self) -> None:
        offsets = {
            key: known.checkpoint
            for key, known in (self._stored | self._known).items()
            if self.is_unchanged(known)
        }
        self._round.write(offsets, offsets.get)

    def failed(self, known: _Known, reason: str) -> None:
        """A log could not be cleaned: it is uncleanable, unless it has changed meanwhile."""
        if not self.is_unchanged(known):
            return
        known.uncleanable_because = reason
        log = known.log
        logger.error(
            "%s-%d cannot be compacted and is set aside until it is cut, made anew or the broker "
            "restarts: %s", log.topic, log.partition, reason,
        )  # fmt: skip


def is_cleanable(dirty: LogToClean, config: LogConfig) -> bool:
    """Whether it is dirty enough, or has been dirty for too long."""
    if dirty.end_offset <= dirty.start_offset or dirty.dirty_bytes == 0:
        return False
    return dirty.late_ms > 0 or dirty.ratio > config.min_cleanable_dirty_ratio


class _Round:
    def __init__(self, cleaner: LogCleanerManager, known: _Known, job: Job) -> None:
        self._cleaner = cleaner
        self._known = known
        self._job = job
        self._first = job.segments[0][0]

    def group_done(self, group: SegmentGroupDone) -> bool:
        log = self._known.log
        if not self._is_wanted(group):
            replace_segments.discard(self._job.directory, group.bases[0], self._job.name)
            return False
        try:
            replace_segments.replace(
                log, group.bases, self._job.name, group.size_bytes, self._cleaner.now_ms()
            )
        except (OSError, KafkaError) as error:
            self._cleaner.failed(self._known, f"its segments could not be replaced: {error}")
            return False
        return True

    def _is_wanted(self, group: SegmentGroupDone) -> bool:
        """Whether the segments from which a group was made still exist unchanged."""
        if not self._cleaner.is_unchanged(self._known):
            return False
        sizes = {base: size for base, _, size in self._job.segments}
        there = self._known.log.local.segments.closed_run(group.bases) or []
        return bool(there) and all(each.size_bytes == sizes[each.base_offset] for each in there)

    def round_done(self, done: RoundDone) -> None:
        self._known.is_busy = False
        self._cleaner.finished(self._known, done, self._job.now_ms)
        if done.failed and not self._has_lost_segments():
            self._cleaner.failed(self._known, done.failed)

    def _has_lost_segments(self) -> bool:
        """Whether retention deleted segments while the worker read them."""
        closed = cleanable_offsets.closed_segments(self._known.log)
        return not closed or closed[0].base_offset > self._first

    def worker_died(self) -> None:
        known = self._known
        known.is_busy = False
        known.deaths += 1
        self._cleaner.metrics.worker_deaths += 1
        for base, _, _ in self._job.segments:
            replace_segments.discard(self._job.directory, base, self._job.name)
        if known.deaths >= DEATHS_MAX:
            self._cleaner.failed(known, f"the worker process died {known.deaths} times over it")
