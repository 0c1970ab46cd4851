"""Reads the segments of a partition from its leader's admin port.

Segments are shown for clusters with admin URLs (brokerd only). The functions raise GatewayError.
"""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.services import is_masked
from console.segments import lookup
from console.segments.lookup import LookUp, OffsetNotFound
from monitoring.gateway.errors import GatewayError, OffsetOutOfRange, Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.read_model.rows import PartitionRow
from monitoring.records.masking import rounded_size
from monitoring.secrets import SecretUnreadable, decrypt, encrypt

PAGE_SIZE = 100
START_MAX = 2**40
KINDS = ("offset", "time", "batches")


@dataclass(frozen=True, slots=True)
class Bar:
    """A segment in the bar of the partition's offsets; `x` and `width` are in percent."""

    base_offset: int
    x: float
    width: float
    active: bool


@dataclass(frozen=True, slots=True)
class Retention:
    """`ms`: how long records are kept after they were written; None = for good or not known."""

    ms: int | None

    def is_due(self, segment: dict[str, Any], now_ms: int) -> bool:
        """Whether a segment is older than its records are kept; the active one stays."""
        latest = segment["largest_timestamp_ms"]
        return (
            self.ms is not None
            and not segment["active"]
            and latest is not None
            and 0 <= latest < now_ms - self.ms
        )


@dataclass(frozen=True, slots=True)
class PartitionSegments:
    """The segments of a partition, with rounded sizes for users who see masked records."""

    segments: list[dict[str, Any]]
    bars: list[Bar]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SegmentPage:
    """Entries or batches of a segment, and the start of the next page (None on the last page)."""

    content: dict[str, Any]
    start: int
    next_start: int | str | None


class NoSegment(Exception):
    """The partition has no segment with this base offset."""


def read_partition(principal: Principal, cluster: Cluster, row: PartitionRow) -> PartitionSegments:
    """The segments of a partition, with their files."""
    found = segments(cluster, row)
    size_bytes = sum(each["size_bytes"] for each in found)
    if is_masked(principal, cluster, row.topic):
        found, size_bytes = list(map(with_rounded_sizes, found)), rounded_size(size_bytes)
    with_files = [each | {"files": files(each)} for each in found]
    return PartitionSegments(with_files, segment_bars(found), size_bytes)


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
            found = gateway.groups.offsets_at([(row.topic, row.partition)], at_ms or 0)
            offset = found[row.topic, row.partition]
            if offset is None:
                raise OffsetNotFound
        admin = gateway.broker_admin
        return lookup.look_up(
            offset,
            admin.segments(*where)["segments"],
            lambda base, start, limit: admin.index(*where, base, "offset", start, limit),
            lambda base, position, limit: admin.batches(*where, base, position, limit),
        )


def retention(cluster: Cluster, topic: str) -> Retention:
    """What deletes segments of a topic; if its settings cannot be read, nothing is known to."""
    try:
        with for_cluster(cluster) as gateway:
            values = {each.name: each.value for each in gateway.admin.describe_configs(topic)}
    except GatewayError:  # the segments themselves could be read
        return Retention(None)
    deletes = "delete" in (values.get("cleanup.policy") or "")
    ms = int(values.get("retention.ms") or -1)
    return Retention(ms if deletes and ms >= 0 else None)


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
    if base_offset not in (each["base_offset"] for each in segments(cluster, row)):
        raise NoSegment
    try:
        found = entries(cluster, row, base_offset, kind, number)
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
    return SegmentPage(found, number, next_start)


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


def segments(cluster: Cluster, row: PartitionRow) -> list[dict[str, Any]]:
    """The segments of a partition, oldest first."""
    with for_cluster(cluster) as gateway:
        response = gateway.broker_admin.segments(row.leader, row.topic, row.partition)
    found: list[dict[str, Any]] = response["segments"]
    return found


def files(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a segment, the log first; index files have the number of their entries."""
    counts = {"index": segment["index_entries"], "timeindex": segment["time_index_entries"]}
    order = ["log", "index", "timeindex"]

    def sort_key(file: dict[str, Any]) -> tuple[int, str]:
        suffix = file["name"].rpartition(".")[2]
        return (order.index(suffix) if suffix in order else len(order), file["name"])

    response = sorted(segment["files"], key=sort_key)
    return [file | {"entries": counts.get(file["name"].rpartition(".")[2])} for file in response]


def entries(
    cluster: Cluster, row: PartitionRow, base_offset: int, kind: str, start: int
) -> dict[str, Any]:
    """One page of a segment: index entries from number `start`, or batches from that position."""
    where = (row.leader, row.topic, row.partition, base_offset)
    with for_cluster(cluster) as gateway:
        if kind == "batches":
            return gateway.broker_admin.batches(*where, start, PAGE_SIZE)
        return gateway.broker_admin.index(*where, kind, start, PAGE_SIZE)


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


def segment_bars(found: list[dict[str, Any]]) -> list[Bar]:
    """The bar of segments, to scale, with a minimum width."""
    if not found:
        return []
    first, last = found[0]["base_offset"], found[-1]["next_offset"]
    span = max(1, last - first)
    return [
        Bar(
            base_offset=s["base_offset"],
            x=round(100 * (s["base_offset"] - first) / span, 3),
            width=max(0.3, round(100 * (s["next_offset"] - s["base_offset"]) / span, 3)),
            active=s["active"],
        )
        for s in found
    ]
