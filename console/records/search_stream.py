"""The results of a search as lines of JSON, while it runs.

    {"rows": [{"time": ms, "html": "<tr>…"}]}      matches
    {"progress": "<div …>", "end": "complete"}     `end` is empty until the search has ended
    {"error": "text"}                              the search failed; the last line

The search ends when the response ends, also if the browser closes it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from console.records.services import shown_record
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.records import RecordRow
from monitoring.models import Cluster
from monitoring.records.filters import FilterInvalid
from monitoring.records.running_search import SEARCHES_MAX, RunningSearch
from monitoring.records.search import Event, Progress

_threads = ThreadPoolExecutor(SEARCHES_MAX, "search")


async def lines(
    running: RunningSearch, cluster: Cluster, topic: str, masked: list[str]
) -> AsyncIterator[str]:
    """The lines of a search; stops it at the end."""
    language = translation.get_language()
    texts = _texts(running.events(), cluster, topic, masked, language)
    try:
        while line := await asyncio.get_running_loop().run_in_executor(_threads, next, texts, ""):
            yield line
    finally:
        await asyncio.shield(asyncio.to_thread(running.stop))


def _texts(
    events: Iterator[Event], cluster: Cluster, topic: str, masked: list[str], language: str | None
) -> Iterator[str]:
    """Runs in a thread, which has no language of its own."""
    with translation.override(language):
        try:
            for event in events:
                yield json.dumps(_content(event, cluster, topic, masked)) + "\n"
        except (GatewayError, FilterInvalid) as error:
            yield json.dumps({"error": error_text(error)}) + "\n"


def _content(event: Event, cluster: Cluster, topic: str, masked: list[str]) -> dict[str, Any]:
    if isinstance(event, Progress):
        context = {
            "progress": event,
            "percent": _percent(event),
            "per_second": event.offsets / event.seconds if event.seconds else None,
            "seconds_left": _left_s(event),
        }
        return {
            "progress": render_to_string("records/search_progress.html", context),
            "end": event.end,
        }
    return {"rows": [_row(row, cluster, topic, masked) for row in event]}


def _row(row: RecordRow, cluster: Cluster, topic: str, masked: list[str]) -> dict[str, Any]:
    context = {
        "record": shown_record(row, masked),
        "slug": cluster.slug,
        "topic": topic,
    }
    return {
        "time": row.timestamp_ms or 0,
        "html": render_to_string("records/search_row.html", context),
    }


def _percent(progress: Progress) -> float:
    return 100 * progress.offsets / progress.offsets_total if progress.offsets_total else 100.0


def _left_s(progress: Progress) -> float | None:
    """Seconds that the rest takes at the rate so far; None = not known."""
    if not progress.offsets or progress.end:
        return None
    left = progress.offsets_total - progress.offsets
    return progress.seconds * left / progress.offsets


def error_text(error: Exception) -> str:
    """What the user reads."""
    if isinstance(error, GatewayError):
        return sentence(error.message)
    return _("This filter cannot be used. %(why)s") % {"why": error}
