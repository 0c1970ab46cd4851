"""The results of a search as lines of JSON, while it runs.

    {"rows": [{"time": ms, "html": "<tr>…"}]}      matches
    {"progress": "<div …>", "end": "complete"}     `end` is empty until the search has ended
    {"error": "text"}                              the search failed; the last line

The search ends when the response ends, also if the browser closes it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from console.records.display_options import DisplayOptions
from console.records.shown_record import shown_record
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.record_row import RecordRow
from monitoring.models import Cluster
from monitoring.records.filters import FilterInvalid
from monitoring.records.search_events import Event, SearchProgress


@dataclass(frozen=True, slots=True)
class ResultView:
    """The topic whose records are shown, and how; `masked`: the targets that are masked."""

    cluster: Cluster
    topic: str
    masked: list[str]
    display: DisplayOptions
    is_followed: bool = False
    matches_max: int = 0  # rows that the table has; 0 = all


def lines(events: Iterator[Event], view: ResultView) -> Iterator[bytes]:
    """The lines of a search, for `stream_chunks` (search_response.py)."""
    try:
        for event in events:
            yield line(_content(event, view))
    except (GatewayError, FilterInvalid) as error:
        yield line({"error": error_text(error)})


def line(content: dict[str, Any]) -> bytes:
    """A line of JSON."""
    return json.dumps(content).encode() + b"\n"


def _content(event: Event, view: ResultView) -> dict[str, Any]:
    if isinstance(event, SearchProgress):
        context = {
            "progress": event,
            "percent": percent(event),
            "per_second": event.offsets / event.seconds if event.seconds else None,
            "seconds_left": None if view.is_followed else seconds_left(event),
            "is_followed": view.is_followed,
            "shown_max": 0 if view.is_followed else view.matches_max,
        }
        return {
            "progress": render_to_string("records/search_progress.html", context),
            "end": event.end,
        }
    return {"rows": [_row(row, view) for row in event]}


def _row(row: RecordRow, view: ResultView) -> dict[str, Any]:
    context = {
        "record": shown_record(view.topic, row, view.masked, view.display),
        "messages_url": reverse("messages", args=[view.cluster.slug, view.topic]),
        "display": view.display,
    }
    return {
        "time": row.timestamp_ms or 0,
        "html": render_to_string("records/row.html", context),
    }


def percent(progress: SearchProgress) -> float:
    """How many of the offsets were searched, in percent."""
    return 100 * progress.offsets / progress.offsets_total if progress.offsets_total else 100.0


def seconds_left(progress: SearchProgress) -> float | None:
    """Seconds that the rest takes at the rate so far; None = not known."""
    if not progress.offsets or progress.end:
        return None
    left = progress.offsets_total - progress.offsets
    return progress.seconds * left / progress.offsets


def error_text(error: Exception) -> str:
    """Why a search failed, for the user."""
    if isinstance(error, GatewayError):
        return sentence(error.message)
    return _("This filter cannot be used. %(why)s") % {"why": error}
