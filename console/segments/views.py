"""The pages of a partition's segments, with an estimate of what compaction would save, and of the
content of one segment."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.charts import cards
from console.charts.chart_query import ChartQuery
from console.records import unread_partition_notices
from console.records.masking_rules import is_masked
from console.records.search_response import disable_buffering, stream_chunks
from console.records.search_stream import error_text
from console.segments import (
    compaction_stream,
    find_batches_by_fetch,
    partition_log_diagram,
    read_segments,
    record_lookup,
    segment_content,
    start_estimate,
)
from console.segments.forms import LookUpForm
from console.segments.log_diagram_scale import scale_of
from console.segments.looked_up_offset import OffsetNotFound, OffsetOutside
from console.topics.topic_context import topic_context
from console.ui import numbers
from console.ui.error_status import http_status_of
from console.ui.kafka_number_limits import OFFSET_MAX
from console.ui.texts import sentence
from monitoring.clock import now_ms
from monitoring.gateway.errors import GatewayError, Unsupported
from monitoring.gateway.log_directory.log_directories import LogDirectoryUnusable
from monitoring.read_model.row_types import PartitionRow
from monitoring.records.compaction_estimate import KEYS_MAX
from monitoring.records.search_limits import BYTES_MAX, SECONDS_MAX

_CHARTS = ("records", "bytes", "size")


@require_safe
@requires("segment.view", resource="topic")
def partition_segments(
    request: ClusterRequest, cluster: str, topic: str, partition: int
) -> HttpResponse:
    """The segments of a partition."""
    page = _page(request, topic, partition)
    page["may_estimate"] = start_estimate.may_estimate(request.principal, request.cluster, topic)
    page |= {
        "is_estimating": "estimate" in request.GET,
        "estimate_limits": {"bytes": BYTES_MAX, "seconds": SECONDS_MAX, "keys": KEYS_MAX},
    }
    charts = [ChartQuery("topic", show, topic=topic, partition=partition) for show in _CHARTS]
    page |= cards.context(request, charts)

    form = page["form"] = LookUpForm(request.GET)
    offset, time_ms = form.offset_and_time()

    def read() -> None:
        at_ms = now_ms()
        arguments = (request.principal, request.cluster, page["row"])
        looked_up = (None, None) if page["is_masked"] else (offset, time_ms)
        try:
            log = read_segments.read_partition(*arguments, at_ms, looked_up[0])
        except Unsupported as error:  # the broker has neither an admin port nor a log directory
            page["is_fetched"] = True
            page["log_directory_problem"] = _log_directory_problem(error)
            page["fetched"] = _fetched(request, page["row"], form)
            retention = read_segments.read_retention(request.cluster, topic)
            page["is_compacted"] = retention.is_compacted
            return
        page["log"], page["is_compacted"] = log, log.retention.is_compacted
        try:
            answer = log.look_up
            if looked_up[1] is not None:
                answer = read_segments.look_up_time(*arguments, looked_up[1])
            if looked_up != (None, None):
                page["lookup"] = record_lookup.look_up(
                    answer, log.segments, log.log_start, *looked_up
                )
        except OffsetNotFound as error:
            _add_not_found(form, error)
        finally:  # the log is drawn also if the look-up fails
            if log.segments:
                page.update(_strip(request, page, at_ms))

    return render(request, "segments/partition.html", page, status=_read_status(page, read))


@require_safe
@requires("segment.view", resource="topic")
def estimate(request: ClusterRequest, cluster: str, topic: str, partition: int) -> HttpResponseBase:
    """What compaction would save of a partition, while it is estimated (compaction_stream.py)."""
    row = _page(request, topic, partition)["row"]
    if row is None:
        return JsonResponse({"error": _("This partition is not in a sample yet.")}, status=503)
    try:
        found = start_estimate.start(request.principal, request.cluster, row, now_ms())
    except GatewayError as error:
        return JsonResponse({"error": error_text(error)}, status=http_status_of(error))
    events = found.running.events()
    content = stream_chunks(found.running, compaction_stream.lines(events, found))
    response = StreamingHttpResponse(content, content_type="application/x-ndjson")
    disable_buffering(response)
    return response


@require_safe
@requires("segment.view", resource="topic")
def segment(
    request: ClusterRequest, cluster: str, topic: str, partition: int, base_offset: int
) -> HttpResponse:
    """The content of a segment: offset index, time index or batches."""
    kind = request.GET.get("show", "batches")
    kind = kind if kind in segment_content.KINDS else "batches"
    page = _page(request, topic, partition) | {
        "base_offset": base_offset,
        "kind": kind,
        "kinds": _kind_tabs(kind),
    }
    start = request.GET.get("start", "")
    ids = {"base": base_offset, "partition": partition}
    gone = Http404(_("Partition %(partition)d has no segment that begins at %(base)d.") % ids)

    def read() -> None:
        arguments = (request.principal, request.cluster, page["row"], base_offset, kind, start)
        try:
            found = segment_content.read_segment(*arguments)
        except segment_content.NoSegment as error:
            raise gone from error
        page.update(
            source=found.source,
            files=found.files,
            content=found.content,
            start=found.start,
            next_start=found.next_start,
        )

    if base_offset > OFFSET_MAX:
        raise gone
    return render(request, "segments/segment.html", page, status=_read_status(page, read))


def _strip(request: ClusterRequest, page: dict[str, Any], at_ms: int) -> dict[str, Any]:
    log, snapshot = page["log"], page["snapshot"]
    scale = scale_of(log.segments, request.GET.get("scale", ""))
    commits = snapshot.commits(page["topic"], page["partition"]) if snapshot else []
    return {
        "scale": scale.kind,
        "scales": partition_log_diagram.scale_links(scale, request.GET.dict()),
        "diagram": partition_log_diagram.diagram(log, scale, commits, page.get("lookup"), at_ms),
    }


def _fetched(
    request: ClusterRequest, row: PartitionRow, form: LookUpForm
) -> find_batches_by_fetch.FetchedBatches | None:
    """The batches from the offset or the time of the form on, by default the newest ones.

    None if the form has an error, which says why nothing is shown.
    """
    if form.is_bound and not form.is_valid():
        return None
    try:
        return find_batches_by_fetch.fetch_batches(
            request.principal, request.cluster, row, *form.offset_and_time()
        )
    except OffsetNotFound as error:
        _add_not_found(form, error)
    return None


def _add_not_found(form: LookUpForm, error: OffsetNotFound) -> None:
    at_ms = form.offset_and_time()[1]
    form.add_error("offset" if at_ms is None else "at", _why_not_found(error, at_ms))


def _why_not_found(error: OffsetNotFound, at_ms: int | None) -> str:
    if at_ms is not None:
        return _("No record is at or after this time.")
    if not isinstance(error, OffsetOutside):
        return _(
            "No record has this offset: compaction removed it, or a transaction marker has it."
        )
    valid = error.valid
    if not valid:
        text = _("The log has no records: its start and its end are at %(end)s.")
        return text % {"end": numbers.count(valid.stop)}
    return _("The log has the offsets %(first)s (log start) to %(last)s (before its end).") % {
        "first": numbers.count(valid.start),
        "last": numbers.count(valid.stop - 1),
    }


def _read_status(page: dict[str, Any], read: Callable[[], None]) -> int:
    """Call `read` if the partition has a leader; returns the HTTP status."""
    row = page["row"]
    if row is None:
        return 200
    if row.is_offline:
        page["unread_notices"] = [unread_partition_notices.no_leader(row, page["snapshot"])]
        return 503
    try:
        read()
    except Unsupported as error:
        page["unsupported"] = True
        page["log_directory_problem"] = _log_directory_problem(error)
    except GatewayError as error:
        page["error"] = sentence(error.message)
        return http_status_of(error)
    return 200


def _log_directory_problem(error: Unsupported) -> str:
    """Why the log directory that is set cannot be used; "" if none is set."""
    return sentence(error.message) if isinstance(error, LogDirectoryUnusable) else ""


def _page(request: ClusterRequest, topic: str, partition: int) -> dict[str, Any]:
    page = topic_context(request, topic, "segments") | {"partition": partition}
    rows = page["snapshot"].partitions(topic) if page["snapshot"] else []
    page["partitions"] = rows
    page["is_masked"] = is_masked(request.principal, request.cluster, topic)
    page["may_edit_cluster"] = request.principal.may("cluster.edit")
    page["row"] = next((row for row in rows if row.partition == partition), None)
    if rows and page["row"] is None:
        raise Http404(_("This topic has no partition %(n)d.") % {"n": partition})
    return page


def _kind_tabs(kind: str) -> list[dict[str, Any]]:
    titles = {"batches": _("Batches"), "offset": _("Offset index"), "time": _("Time index")}
    return [
        {"title": title, "url": f"?show={key}", "active": key == kind}
        for key, title in titles.items()
    ]
