"""Taking a segment's files away: renamed at once, removed when nobody can want them any more."""

import os

from brokerd.log import crash_points, names
from brokerd.log.segments.segment import Segment

remove = crash_points.around("segment-remove")(os.unlink)
_rename = crash_points.around("segment-rename")(os.rename)


def mark_deleted(segment: Segment) -> list[str]:
    """Rename the segment's files to `.deleted`; returns the new paths. Raises OSError."""
    segment.abandon()
    renamed = []
    for suffix in names.SEGMENT_SUFFIXES:
        path = segment.path(suffix)
        try:
            _rename(path, path + names.DELETED)
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
            remove(path)
    return size_bytes
