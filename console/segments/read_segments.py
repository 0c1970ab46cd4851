"""Reads the segments of a partition from its leader's admin port or log directory.

The functions raise GatewayError, Unsupported without either (segment_source.py).
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.masking_rules import is_masked
from console.segments.compression import compression_of
from console.segments.looked_up_offset import offset_at
from console.segments.masked_sizes import with_rounded_sizes
from console.segments.retention import SETTINGS, Retention
from console.segments.segment_source import source_of
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.gateway.wire.response_limits import TIME_MS_MAX
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow
from monitoring.records.mask_record import rounded_size


@dataclass(frozen=True, slots=True)
class DirtyPart:
    """What was written since the last compaction of a log, and what was there before, in bytes."""

    clean_bytes: int
    dirty_bytes: int
    min_ratio: float  # min.cleanable.dirty.ratio: the broker compacts above it

    @classmethod
    def of(cls, answer: dict[str, Any] | None, *, is_masked: bool) -> "DirtyPart | None":
        """From the source; None = not compacted, or not known."""
        if not answer:
            return None
        sizes = [answer["clean_bytes"], answer["dirty_bytes"]]
        clean, dirty = map(rounded_size, sizes) if is_masked else sizes
        return cls(clean, dirty, answer["min_cleanable_dirty_ratio"])

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """The log of a partition, with rounded sizes for users who see masked records.

    Attributes:
        source: the name of the source (segment_source.py).
        segments: oldest first, as the source describes them, with these keys added: `name`,
            `offset_count`, `compression`, `is_rounded`, `index_interval_bytes` (bytes of the log
            for each entry of its offset index), `is_due` and `due_at_ms` (for deletion by the
            retention). An unknown figure is None.
        uncompressed_bytes: an estimate by samples; None = not known, or not shown.
        log_start, last_stable, high_watermark: None = the broker does not report it.
        sampled_batches: how many batches of each segment were sampled, at most; 0 = of none.
        dirty_part: of a compacted log; None = not known.
        look_up: how the record that was looked up is found; None if it has none, or none
            was.
    """

    source: str
    segments: list[dict[str, Any]]
    size_bytes: int
    uncompressed_bytes: int | None
    retention: Retention
    log_start: int | None
    last_stable: int | None
    high_watermark: int | None
    sampled_batches: int
    dirty_part: DirtyPart | None
    look_up: dict[str, Any] | None

    @property
    def next_due_ms(self) -> int | None:
        """When the oldest segment that is not due yet becomes due; None = never, or not known."""
        times: list[int | None] = [
            each["due_at_ms"] for each in self.segments if not each["is_due"]
        ]
        return times[0] if times else None


def read_partition(
    principal: Principal,
    cluster: Cluster,
    row: PartitionRow,
    now_ms: int,
    offset: int | None = None,
) -> PartitionLog:
    """The segments of a partition, with their compression and what the retention deletes next, and
    the look-up of an offset.

    Raises PermissionDenied as `look_up_time`.
    """
    masked = is_masked(principal, cluster, row.topic)
    _refuse_look_up_if(masked and offset is not None)
    with for_cluster(cluster) as gateway:
        source = source_of(gateway, row)
        answer = source.segments(with_samples=True, offset=offset)
    topic_retention = Retention.of(answer["settings"])
    found = [_without_invalid_times(each) for each in answer["segments"]]
    log_start, high_watermark = answer.get("log_start_offset"), answer.get("high_watermark")
    due = topic_retention.due(found, log_start, high_watermark, now_ms)
    size_bytes = sum(each["size_bytes"] for each in found)
    segments = []
    for each in found:
        base_offset = each["base_offset"]
        shown = _with_derived_figures(each, masked) | {
            "compression": compression_of(each["compression"], is_masked=masked),
            "name": f"{base_offset:020d}",
            "is_due": base_offset in due,
            "due_at_ms": _valid_time(topic_retention.due_at_ms(each)),
        }
        segments.append(shown)
    return PartitionLog(
        source.name,
        segments,
        rounded_size(size_bytes) if masked else size_bytes,
        _uncompressed_bytes(segments),
        topic_retention,
        log_start,
        answer.get("last_stable_offset"),
        high_watermark,
        answer["sampled_batches_max"] if any(each["compression"] for each in found) else 0,
        DirtyPart.of(answer.get("compaction"), is_masked=masked),
        answer["look_up"],
    )


def look_up_time(
    principal: Principal, cluster: Cluster, row: PartitionRow, at_ms: int
) -> dict[str, Any] | None:
    """How the first record at or after a time is found; None if no segment has it.

    Raises OffsetNotFound; PermissionDenied for users who see masked records: positions reveal the
    sizes of batches.
    """
    _refuse_look_up_if(is_masked(principal, cluster, row.topic))
    with for_cluster(cluster) as gateway:
        offset = offset_at(gateway, row, at_ms)
        answer = source_of(gateway, row).segments(offset=offset, at_ms=at_ms)
    look_up: dict[str, Any] | None = answer["look_up"]
    return look_up


def _refuse_look_up_if(is_masked: bool) -> None:
    if is_masked:
        raise PermissionDenied(_("Parts of these records are masked for you."))


def _with_derived_figures(segment: dict[str, Any], masked: bool) -> dict[str, Any]:
    """A segment with figures that are computed from others. Users who see masked records get no
    size of the data between two index entries, since these may be few records."""
    entries = segment["index_entries"]
    return (with_rounded_sizes(segment) if masked else segment) | {
        "is_rounded": masked,
        "offset_count": segment["next_offset"] - segment["base_offset"],
        "index_interval_bytes": segment["size_bytes"] / entries if entries and not masked else None,
    }


def _without_invalid_times(segment: dict[str, Any]) -> dict[str, Any]:
    names = ("first_timestamp_ms", "largest_timestamp_ms")
    return segment | {name: _valid_time(segment[name]) for name in names}


def _valid_time(at_ms: int | None) -> int | None:
    """The time, or None if no calendar has it: producers may write any timestamp."""
    return at_ms if at_ms is not None and 0 <= at_ms <= TIME_MS_MAX else None


def _uncompressed_bytes(segments: list[dict[str, Any]]) -> int | None:
    """The estimated size without compression; None if the ratio of a segment is not known."""
    total = 0.0
    for each in segments:
        ratio: float | None = each["compression"].ratio
        if ratio is None and each["size_bytes"]:
            return None
        total += each["size_bytes"] * (ratio or 0)
    return round(total)


def read_retention(cluster: Cluster, topic: str) -> Retention:
    """The retention of a topic; without limits if its settings cannot be read."""
    with for_cluster(cluster) as gateway:
        try:
            settings = gateway.topics.describe_configs(topic, SETTINGS)
        except GatewayError:  # the batches themselves could be read
            return Retention()
    return Retention.of({each.name: each.value for each in settings})
