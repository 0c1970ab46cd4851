"""Streams an estimate of what compaction would save, as lines of JSON while it runs.

The lines are those of a search (console/records/search_stream.py) without rows.
"""

from collections.abc import Iterator
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from console.records.search_stream import error_text, line, percent, seconds_left
from console.segments.compactable import CLOSED
from console.segments.start_estimate import Estimate
from console.ui import numbers
from monitoring.gateway.errors import GatewayError
from monitoring.records.compaction_search import CompactionProgress
from monitoring.records.mask_record import rounded_size
from monitoring.records.search_events import Event


def lines(events: Iterator[Event], estimate: Estimate) -> Iterator[bytes]:
    """The lines of an estimate, for `stream_chunks` (search_response.py)."""
    try:
        for event in events:
            if isinstance(event, CompactionProgress):
                html = render_to_string("segments/estimate.html", _context(event, estimate))
                yield line({"progress": html, "end": event.end})
    except GatewayError as error:
        yield line({"error": error_text(error)})


def _context(progress: CompactionProgress, estimate: Estimate) -> dict[str, Any]:
    """The context of the template: the figures of an estimate so far, and its progress."""
    figures, offsets = progress.figures, estimate.part.offsets
    found: dict[str, Any] = {
        "progress": progress,
        "percent": percent(progress),
        "seconds_left": seconds_left(progress),
        "figures": figures,
        "basis": estimate.part.basis,
        "min_lag_s": estimate.min_lag_ms / 1000,
        "end_offset": offsets.stop,
        "read_to": progress.positions.get(estimate.partition, offsets.start),
    }
    if figures is not None:
        found |= {
            "size": _size(figures.size_bytes, estimate.is_masked),
            "kept": _size(figures.kept_bytes, estimate.is_masked),
            "saved": _size(figures.saved_bytes, estimate.is_masked),
            "share": None if estimate.is_masked else figures.saved_share,
            # The offset from which records were not read since their transaction is open. Unknown
            # for closed segments: there an earlier compaction may have removed the last records.
            "open_from": None if estimate.part.basis == CLOSED else figures.end_offset,
        }
    return found


def _size(size_bytes: int, is_masked: bool) -> str:
    if is_masked:
        return _("about %(size)s") % {"size": numbers.size(rounded_size(size_bytes))}
    return numbers.size(size_bytes)
