"""Reads a page of one segment from its source (segment_source.py): index entries or batches."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.records.masking_rules import is_masked
from console.segments.masked_sizes import with_rounded_sizes, without_positions
from console.segments.segment_source import SegmentSource, source_of
from monitoring.encryption import SecretUnreadable, decrypt, encrypt
from monitoring.gateway.errors import OffsetOutOfRange, Refused
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.read_model.row_types import PartitionRow

PAGE_SIZE = 100
START_MAX = 2**40  # beyond any position in a segment
KINDS = ("offset", "time", "batches")


@dataclass(frozen=True, slots=True)
class SegmentPage:
    """A page of the content of a segment, its files, and the name of their source.

    `start` and `next_start` (None on the last page): the number of an index entry, or the position
    of a batch, which is encrypted in `next_start` for users who see masked records.
    """

    source: str
    files: list[dict[str, Any]]
    content: dict[str, Any]
    start: int
    next_start: int | str | None


class NoSegment(Exception):
    """The partition has no segment with this base offset."""


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
    number = parse_start(start, prefix)
    with for_cluster(cluster) as gateway:
        source = source_of(gateway, row)
        answer = source.segments()
        found_segments = (e for e in answer["segments"] if e["base_offset"] == base_offset)
        if (segment := next(found_segments, None)) is None:
            raise NoSegment
        try:
            found = _read_content(source, base_offset, kind, number)
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
    files = files_in_order(with_rounded_sizes(segment) if masked else segment)
    return SegmentPage(source.name, files, found, number, next_start)


def parse_start(text: str, prefix: str = "") -> int:
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


def files_in_order(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a segment, the log first; index files have the number of their entries."""
    counts = {"index": segment["index_entries"], "timeindex": segment["time_index_entries"]}
    order = ["log", "index", "timeindex"]

    def sort_key(file: dict[str, Any]) -> tuple[int, str]:
        suffix = file["name"].rpartition(".")[2]
        return (order.index(suffix) if suffix in order else len(order), file["name"])

    files = sorted(segment["files"], key=sort_key)
    return [file | {"entries": counts.get(file["name"].rpartition(".")[2])} for file in files]


def _read_content(source: SegmentSource, base_offset: int, kind: str, start: int) -> dict[str, Any]:
    """One page of a segment: index entries from number `start`, or batches from that position."""
    if kind == "batches":
        return source.batches(base_offset, start, PAGE_SIZE)
    return source.index(base_offset, kind, start, PAGE_SIZE)
