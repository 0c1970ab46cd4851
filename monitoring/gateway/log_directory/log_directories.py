"""Segments from the log directories that the setting AERIE_LOG_DIRS names.

`LogDirectories` answers as `BrokerdAdmin` does (brokerd_admin.py), so that a broker without an
admin port, on this machine or with a mounted volume, has the same pages. What the files do not say
comes from the cluster: the bounds of the log, and the settings of the topic.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

from django.conf import settings

from monitoring.error_reason import Reason
from monitoring.gateway.errors import (
    ClusterUnavailable,
    GatewayError,
    NotFound,
    Refused,
    Unreadable,
    Unsupported,
)
from monitoring.gateway.log_bounds import LogBounds
from monitoring.gateway.log_directory import batch_scan, offset_checkpoint
from monitoring.gateway.log_directory.damaged_file import DamagedFile
from monitoring.gateway.log_directory.index_file import Kind
from monitoring.gateway.log_directory.partition_directory import (
    PartitionDirectory,
    checkpoint_text,
    opened_partition,
)
from monitoring.gateway.log_directory.segment_reader import DamagedIndex, NoBatch, SegmentReader
from monitoring.gateway.log_offsets import LogOffsets
from monitoring.gateway.topic_admin import TopicAdmin
from monitoring.gateway.topic_partition import TopicPartition

RETENTION_SETTINGS = ("cleanup.policy", "retention.ms", "retention.bytes", "min.compaction.lag.ms")
"""The settings of a topic that decide what is deleted or compacted next."""

_ENTRIES_MAX, _BATCHES_MAX = 10_000, 200  # of one answer
_SAMPLES_MAX, _SAMPLES_S = 200, 1.0  # the newest segments; those after this time have no sample


class LogDirectoryUnusable(Unsupported):
    """A log directory is set for the broker, but has not the partition or may not be read."""


class LogDirectories:
    """The log directories of one cluster's brokers. All calls raise GatewayError."""

    def __init__(self, cluster_slug: str, log_offsets: LogOffsets, topics: TopicAdmin) -> None:
        self._slug = cluster_slug
        self._log_offsets = log_offsets
        self._topics = topics

    def has(self, broker_id: int) -> bool:
        """Whether a log directory of this broker is set; its partitions are not looked at."""
        return bool(self._paths(broker_id))

    def segments(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        *,
        with_samples: bool = False,
        offset: int | None = None,
        at_ms: int | None = None,
    ) -> dict[str, Any]:
        """As `BrokerdAdmin.segments`. `compaction` is None; the numbers of a damaged index, too."""
        key = (topic, partition)
        with self._opened(broker_id, key) as directory:
            bounds = self._bounds(key)
            # Read after the bounds, so that a segment begins at or before each offset.
            files = directory.segment_files()
            bases = list(files)
            log_start = max(_checkpointed_start(directory, key, bases), bounds.log_start)
            ends = [after for _, after in pairwise(bases)]
            ends += [max(each, bounds.high_watermark) for each in bases[-1:]]
            described = [
                SegmentReader(directory, base).described(end, files[base], base == bases[-1])
                for base, end in zip(bases, ends, strict=True)
            ]
            samples = _samples(directory, bases) if with_samples else {}
            look_up = None
            if offset is not None and log_start <= offset < bounds.high_watermark:
                base = max((each for each in bases if each <= offset), default=None)
                if base is not None:
                    look_up = SegmentReader(directory, base).look_up(offset, at_ms)
        return {
            "topic": topic,
            "partition": partition,
            "log_start_offset": log_start,
            "last_stable_offset": bounds.last_stable,
            "high_watermark": bounds.high_watermark,
            "log_end_offset": bounds.high_watermark,
            "compaction": None,
            "look_up": look_up,
            "settings": self._settings(topic),
            "sampled_batches_max": batch_scan.SAMPLED_BATCHES_MAX,
            "segments": [
                each | {"compression": samples.get(each["base_offset"])} for each in described
            ],
        }

    def index(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        kind: str,
        start: int,
        limit: int,
    ) -> dict[str, Any]:
        """As `BrokerdAdmin.index`. Raises Unreadable if the index is damaged."""
        which: Kind = "offset" if kind == "offset" else "time"
        with self._segment(broker_id, (topic, partition), base_offset) as segment:
            return segment.index_page(which, max(start, 0), min(max(limit, 0), _ENTRIES_MAX))

    def batches(
        self,
        broker_id: int,
        topic: str,
        partition: int,
        base_offset: int,
        position: int,
        limit: int,
    ) -> dict[str, Any]:
        """As `BrokerdAdmin.batches`. Raises Refused if no batch starts at `position`."""
        with self._segment(broker_id, (topic, partition), base_offset) as segment:
            return segment.batch_page(max(position, 0), min(max(limit, 0), _BATCHES_MAX))

    @contextmanager
    def _segment(
        self, broker_id: int, key: TopicPartition, base_offset: int
    ) -> Iterator[SegmentReader]:
        with self._opened(broker_id, key) as directory:
            if base_offset not in directory.segment_files():
                raise NotFound(Reason("log_dir_no_segment", offset=base_offset))
            yield SegmentReader(directory, base_offset)

    @contextmanager
    def _opened(self, broker_id: int, key: TopicPartition) -> Iterator[PartitionDirectory]:
        """The partition's directory. Errors of its files become GatewayErrors, which name no
        path."""
        paths = self._paths(broker_id)
        if not paths:
            raise Unsupported(Reason("log_dir_none", id=broker_id))
        try:
            with opened_partition(paths, key) as directory:
                if directory is None:
                    raise LogDirectoryUnusable(_without(broker_id, key))
                yield directory
        except DamagedIndex as error:
            reason = Reason("log_dir_damaged", file=error.name, why=error.reason)
            raise Unreadable(reason) from error
        except NoBatch as error:
            raise Refused(Reason("log_dir_no_batch", position=error.position)) from error
        except FileNotFoundError as error:
            raise NotFound(Reason("log_dir_file_gone")) from error
        except PermissionError as error:
            raise LogDirectoryUnusable(Reason("log_dir_refused", id=broker_id)) from error
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise Unreadable(Reason("log_dir_unreadable", id=broker_id, why=why)) from error

    def _paths(self, broker_id: int) -> Sequence[str]:
        paths: Sequence[str] = settings.AERIE_LOG_DIRS.get((self._slug, broker_id), ())
        return paths

    def _bounds(self, key: TopicPartition) -> LogBounds:
        bounds = self._log_offsets.bounds(key)
        if bounds is None:
            raise ClusterUnavailable(Reason("partition_unread", topic=key[0], partition=key[1]))
        return bounds

    def _settings(self, topic: str) -> dict[str, str | None]:
        """Empty if the settings cannot be read: the files can."""
        try:
            found = self._topics.describe_configs(topic, RETENTION_SETTINGS)
        except GatewayError:
            return {}
        return {each.name: each.value for each in found}


def _without(broker_id: int, key: TopicPartition) -> Reason:
    return Reason("log_dir_without", id=broker_id, topic=key[0], partition=key[1])


def _checkpointed_start(
    directory: PartitionDirectory, key: TopicPartition, bases: Sequence[int]
) -> int:
    """The log start in the checkpoint file, which the broker writes once a minute; else the first
    segment's base offset, which may be before the log start."""
    first = bases[0] if bases else 0
    try:
        text = checkpoint_text(directory.log_directory, offset_checkpoint.NAME)
        return max(offset_checkpoint.parse(text).get(key, first), first)
    except (DamagedFile, OSError, ValueError):
        return first


def _samples(directory: PartitionDirectory, bases: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Base offset → how the segment is compressed; of the newest segments."""
    end_s = time.monotonic() + _SAMPLES_S
    samples: dict[int, dict[str, Any]] = {}
    for base in reversed(bases[-_SAMPLES_MAX:]):
        if time.monotonic() > end_s:
            break
        with suppress(FileNotFoundError):  # the segment is removed meanwhile
            samples[base] = SegmentReader(directory, base).sample()
    return samples
