"""Reads the segments of a partition from its leader's admin port, which only brokerd has; of other
brokers the batches, by a Fetch. The functions raise GatewayError.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.batch_facts import BatchFacts, batch_facts
from console.records.masking_rules import is_masked
from console.segments import lookup
from console.segments.compression import Compression, compressions
from console.segments.lookup import LookUp, OffsetNotFound
from console.segments.retention import Retention
from monitoring.gateway.brokerd_admin import BrokerdAdmin
from monitoring.gateway.errors import ClusterUnavailable, GatewayError, OffsetOutOfRange, Refused
from monitoring.gateway.gateway import Gateway, for_cluster
from monitoring.gateway.wire.limits import TIME_MS_MAX
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow
from monitoring.reasons import Reason
from monitoring.records.masking import rounded_size
from monitoring.secrets import SecretUnreadable, decrypt, encrypt

PAGE_SIZE = 100
START_MAX = 2**40
_NEWEST_OFFSETS, _FETCH_BYTES = 1000, 1 << 20
KINDS = ("offset", "time", "batches")


@dataclass(frozen=True, slots=True)
class DirtyPart:
    """What was written since the last compaction of a log, and what was there before, in bytes."""

    clean_bytes: int
    dirty_bytes: int
    min_ratio: float  # the broker compacts above it

    @classmethod
    def of(cls, answer: dict[str, Any] | None, masked: bool) -> "DirtyPart | None":
        """From the admin port; None = not compacted, or not known."""
        if not answer:
            return None
        sizes = [answer["clean_bytes"], answer["dirty_bytes"]]
        clean, dirty = map(rounded_size, sizes) if masked else sizes
        return cls(clean, dirty, answer["min_cleanable_dirty_ratio"])

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """The log of a partition, with rounded sizes for users who see masked records.

    Attributes:
        segments: oldest first, as the admin port describes them, and: `name`, `offsets` (their
            number), `compression`, `is_rounded`, `index_interval_bytes` (bytes of the log for each
            entry of its offset index), `is_due` and `due_at_ms` (by the retention). An unknown
            figure is None.
        uncompressed_bytes: an estimate by samples; None = not known, or not shown.
        log_start, last_stable, high_watermark: None = the broker does not report it.
        sampled_batches: how many batches of each segment were sampled, at most.
        dirty_part: of a compacted log; None = not known.
    """

    segments: list[dict[str, Any]]
    size_bytes: int
    uncompressed_bytes: int | None
    retention: Retention
    log_start: int | None
    last_stable: int | None
    high_watermark: int | None
    sampled_batches: int
    dirty_part: DirtyPart | None

    @property
    def next_due_ms(self) -> int | None:
        """When the first segment that is not due yet becomes so."""
        times: list[int | None] = [
            each["due_at_ms"] for each in self.segments if not each["is_due"]
        ]
        return times[0] if times else None


@dataclass(frozen=True, slots=True)
class SegmentPage:
    """Entries or batches of a segment, and the start of the next page (None on the last page)."""

    files: list[dict[str, Any]]
    content: dict[str, Any]
    start: int
    next_start: int | str | None


class NoSegment(Exception):
    """The partition has no segment with this base offset."""


def read_partition(
    principal: Principal, cluster: Cluster, row: PartitionRow, now_ms: int
) -> PartitionLog:
    """The segments of a partition, how they are compressed and what the retention deletes next."""
    masked = is_masked(principal, cluster, row.topic)
    answer = _describe_segments(cluster, row)
    samples = _samples(cluster, row)
    compression = compressions(samples, masked)
    found = [_with_times(each) for each in answer["segments"]]
    topic_retention = read_retention(cluster, row.topic)
    log_start, high_watermark = answer.get("log_start_offset"), answer.get("high_watermark")
    due = topic_retention.due(found, log_start, high_watermark, now_ms)
    size_bytes = sum(each["size_bytes"] for each in found)
    segments = []
    for each in found:
        base_offset = each["base_offset"]
        shown = _with_derived_figures(each, masked) | {
            "compression": compression.get(base_offset, Compression()),
            "name": f"{base_offset:020d}",
            "is_due": base_offset in due,
            "due_at_ms": _valid_time(topic_retention.due_at_ms(each)),
        }
        segments.append(shown)
    return PartitionLog(
        segments,
        rounded_size(size_bytes) if masked else size_bytes,
        _uncompressed_bytes(segments),
        topic_retention,
        log_start,
        answer.get("last_stable_offset"),
        high_watermark,
        samples["batches_max"],
        DirtyPart.of(answer.get("compaction"), masked),
    )


def _with_derived_figures(segment: dict[str, Any], masked: bool) -> dict[str, Any]:
    """A segment with figures that are computed from others. Users who see masked records get no
    size of the data between two index entries, since these may be few records."""
    entries = segment["index_entries"]
    return (with_rounded_sizes(segment) if masked else segment) | {
        "is_rounded": masked,
        "offsets": segment["next_offset"] - segment["base_offset"],
        "index_interval_bytes": segment["size_bytes"] / entries if entries and not masked else None,
    }


def _with_times(segment: dict[str, Any]) -> dict[str, Any]:
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


def _samples(cluster: Cluster, row: PartitionRow) -> dict[str, Any]:
    """Compression samples from the admin port; none if they cannot be read, for example because
    the broker is too old."""
    try:
        with for_cluster(cluster) as gateway:
            return gateway.brokerd_admin.compression(row.leader, row.topic, row.partition)
    except GatewayError:  # the segments themselves could be read
        return {"batches_max": 0, "segments": []}


def fetch_batches(
    principal: Principal, cluster: Cluster, row: PartitionRow, offset: int | None, at_ms: int | None
) -> list[BatchFacts]:
    """At most a page of batches, oldest first: from the one on that holds an offset, or the first
    record at or after a time; else the newest.

    Raises OffsetNotFound.
    """
    masked, key = is_masked(principal, cluster, row.topic), (row.topic, row.partition)
    with for_cluster(cluster) as gateway:
        log = gateway.log_offsets.ranges([key]).get(key)
        if log is None:
            raise ClusterUnavailable(Reason("partition_no_leader"))
        start = offset if at_ms is None else _offset_at(gateway, row, at_ms)
        if start is not None:
            lookup.check_offset(start, log.start, log.stop)
        if not log:
            return []
        first = max(log.start, log.stop - _NEWEST_OFFSETS) if start is None else start
        headers = gateway.wire.batch_headers(*key, first, _FETCH_BYTES)
    page = headers[-PAGE_SIZE:] if start is None else headers[:PAGE_SIZE]
    return [batch_facts(header, masked) for header in page]


def _offset_at(gateway: Gateway, row: PartitionRow, at_ms: int) -> int:
    """The offset of the first record at or after a time. Raises OffsetNotFound."""
    key = (row.topic, row.partition)
    found = gateway.log_offsets.at_time([key], at_ms)
    if key not in found:
        raise ClusterUnavailable(Reason("partition_no_leader"))
    offset = found[key]
    if offset is None:
        raise OffsetNotFound
    return offset


def look_up(
    principal: Principal, cluster: Cluster, row: PartitionRow, offset: int | None, at_ms: int | None
) -> LookUp:
    """How the record at an offset, or the first one at or after a time, is found.

    Raises OffsetNotFound, or PermissionDenied for users who see masked records: positions reveal
    the sizes of batches.
    """
    if is_masked(principal, cluster, row.topic):
        raise PermissionDenied(_("Parts of these records are masked for you."))
    where = (row.leader, row.topic, row.partition)
    with for_cluster(cluster) as gateway:
        if offset is None:
            offset = _offset_at(gateway, row, at_ms or 0)
        admin = gateway.brokerd_admin
        answer = admin.segments(*where)
        segments = answer["segments"]
        if not segments:
            raise OffsetNotFound
        first, end = segments[0]["base_offset"], segments[-1]["next_offset"]
        lookup.check_offset(offset, answer.get("log_start_offset", first), end)
        steps = lookup.look_up(
            offset,
            segments,
            partial(admin.index, *where),
            partial(admin.batches, *where),
            at_ms,
        )
        return replace(steps, took_ms=_look_up_ms(admin, where, offset))


def _look_up_ms(admin: BrokerdAdmin, where: tuple[int, str, int], offset: int) -> float | None:
    """How long the broker takes to find the offset; None if it does not say."""
    try:
        took_us: float = admin.look_up(*where, offset)["took_us"]
    except GatewayError:  # an older broker
        return None
    return took_us / 1000


def read_retention(cluster: Cluster, topic: str) -> Retention:
    """The retention of a topic; without limits if its settings cannot be read."""
    try:
        with for_cluster(cluster) as gateway:
            settings = gateway.topics.describe_configs(topic)
    except GatewayError:  # the segments themselves could be read
        return Retention()
    return Retention.of({each.name: each.value for each in settings})


def read_segment(
    principal: Principal,
    cluster: Cluster,
    row: PartitionRow,
    base_offset: int,
    kind: str,
    start: str,
) -> SegmentPage:
    """A page of a segment's content: offset index, time index or batches.

    `start` is the text of a `next_start`; an invalid one means the beginning. Raises NoSegment, or
    OffsetOutOfRange if no entry starts there.
    """
    masked = is_masked(principal, cluster, row.topic)
    prefix = f"{row.topic}/{row.partition}/{base_offset}/" if masked and kind == "batches" else ""
    number = start_of(start, prefix)
    segments = _describe_segments(cluster, row)["segments"]
    segment = next((each for each in segments if each["base_offset"] == base_offset), None)
    if segment is None:
        raise NoSegment
    try:
        found = read_entries(cluster, row, base_offset, kind, number)
    except Refused as error:
        if not number:
            raise
        text = _("This segment has no batch at position %(n)d.") % {"n": number}
        if prefix:
            text = _("This segment no longer has a batch at this position.")
        raise OffsetOutOfRange(text) from error
    next_start: int | str | None = _next_start(kind, number, found)
    if masked:
        found = without_positions(found)
    if prefix and next_start:
        next_start = encrypt(f"{prefix}{next_start}")
    on_disk = files(with_rounded_sizes(segment) if masked else segment)
    return SegmentPage(on_disk, found, number, next_start)


def start_of(text: str, prefix: str = "") -> int:
    """The start of a page of entries; 0 if the text is not valid.

    With a `prefix` the text is encrypted together with it, so that users who see masked records can
    neither read nor guess positions.
    """
    if prefix:
        try:
            decrypted = decrypt(text)
        except SecretUnreadable:
            return 0
        text = decrypted.removeprefix(prefix) if decrypted.startswith(prefix) else ""
    return min(int(text), START_MAX) if text.isascii() and text.isdigit() else 0


def _next_start(kind: str, start: int, found: dict[str, Any]) -> int | None:
    if kind == "batches":
        next_start = found.get("next_position")
        return next_start if found["batches"] and next_start else None
    end = start + len(found["entries"])
    return end if end < found["total"] else None


def _describe_segments(cluster: Cluster, row: PartitionRow) -> dict[str, Any]:
    with for_cluster(cluster) as gateway:
        return gateway.brokerd_admin.segments(row.leader, row.topic, row.partition)


def files(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a segment, the log first; index files have the number of their entries."""
    counts = {"index": segment["index_entries"], "timeindex": segment["time_index_entries"]}
    order = ["log", "index", "timeindex"]

    def sort_key(file: dict[str, Any]) -> tuple[int, str]:
        suffix = file["name"].rpartition(".")[2]
        return (order.index(suffix) if suffix in order else len(order), file["name"])

    response = sorted(segment["files"], key=sort_key)
    return [file | {"entries": counts.get(file["name"].rpartition(".")[2])} for file in response]


def read_entries(
    cluster: Cluster, row: PartitionRow, base_offset: int, kind: str, start: int
) -> dict[str, Any]:
    """One page of a segment: index entries from number `start`, or batches from that position."""
    where = (row.leader, row.topic, row.partition, base_offset)
    with for_cluster(cluster) as gateway:
        if kind == "batches":
            return gateway.brokerd_admin.batches(*where, start, PAGE_SIZE)
        return gateway.brokerd_admin.index(*where, kind, start, PAGE_SIZE)


def with_rounded_sizes(segment: dict[str, Any]) -> dict[str, Any]:
    """A segment for users who see masked records: exact sizes could reveal masked data."""
    files = [file | {"size_bytes": rounded_size(file["size_bytes"])} for file in segment["files"]]
    return segment | {"size_bytes": rounded_size(segment["size_bytes"]), "files": files}


def without_positions(found: dict[str, Any]) -> dict[str, Any]:
    """A page of entries for users who see masked records: positions reveal the sizes of batches."""
    hidden = {"position_bytes": None}
    return found | {
        "entries": [each | hidden for each in found.get("entries", ())],
        "batches": [
            each | hidden | {"size_bytes": rounded_size(each["size_bytes"])}
            for each in found.get("batches", ())
        ],
    }
