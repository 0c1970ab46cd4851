"""Taking a segment's files away: renamed at once, removed when nobody can want them any more."""

import os

from brokerd.log import names
from brokerd.log.segments.segment import Segment


def mark_deleted(segment: Segment) -> list[str]:
    """Rename the segment's files to `.deleted`; returns the new paths. Raises OSError."""
    segment.abandon()
    renamed = []
    for suffix in names.SEGMENT_SUFFIXES:
        path = segment.path(suffix)
        try:
            os.rename(path, path + names.DELETED)
        except FileNotFoundError:
            continue
        renamed.append(path + names.DELETED)
    return renamed


def remove_segments(segments: list[Segment]) -> int:
    """Remove segments for good; returns how many bytes of data they held. Raises OSError."""
    size_bytes = sum(segment.size_bytes for segment in segments)
    for segment in segments:
        segment.file.cut(0)
        for path in mark_deleted(segment):
            os.unlink(path)
    return size_bytes
