"""The page of a search in records, its results while it runs, and their export."""

from typing import Any

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.records import masking_rules, search_stream, start_search
from console.records.display_options import DEFAULT
from console.records.exports import run_export
from console.records.exports.forms import ExportForm
from console.records.exports.writers import writer_of
from console.records.forms import FOLLOW, SearchForm
from console.records.search_response import disable_buffering, stream_chunks
from console.records.search_stream import ResultView
from console.topics.topic_context import topic_context
from console.ui.error_status import http_status_of
from monitoring.gateway.errors import GatewayError
from monitoring.records import cel_expression
from monitoring.records.filters import FilterInvalid


@require_safe
@requires("record.read", resource="topic")
def search(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The form of a search, and a table that the browser fills from `search_results`."""
    is_submitted = bool(request.GET)
    page = search_page(request, topic, is_submitted)
    page["is_running"] = is_submitted and page["form"].is_valid()
    page["is_followed"] = page["is_running"] and page["form"].cleaned_data["order"] == FOLLOW
    page["display"] = page["form"].display if page["is_running"] else DEFAULT
    status = 422 if is_submitted and not page["is_running"] else 200
    return render(request, "records/search.html", page, status=status)


def search_page(request: ClusterRequest, topic: str, is_submitted: bool) -> dict[str, Any]:
    """The context of the page; its form is not validated yet, and empty unless `is_submitted`."""
    page: dict[str, Any] = topic_context(request, topic, "messages")
    rows = page["snapshot"].partitions(topic) if page["snapshot"] else []
    partitions = [row.partition for row in rows]
    # The fields of SearchForm and those of an export: the page shows both.
    page["form"] = ExportForm(request.GET if is_submitted else None, partitions)
    page["is_masked"] = masking_rules.is_masked(request.principal, request.cluster, topic)
    page["query_string"] = request.GET.urlencode()
    page["field_names"] = cel_expression.FIELD_NAMES
    return page


@require_safe
@requires("record.read", resource="topic")
def check_expression(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """What is wrong with an expression, while the user types it; empty = nothing."""
    form = SearchForm({"expression": request.GET.get("expression", "")}, partitions=[])
    found = form.errors.as_data().get("expression", [])
    return JsonResponse({"error": " ".join(text for each in found for text in each.messages)})


@require_safe
@requires("record.read", resource="topic")
def search_results(request: ClusterRequest, cluster: str, topic: str) -> HttpResponseBase:
    """The results of a search while it runs (search_stream.py)."""
    form = SearchForm(request.GET, partitions=[])  # not known here: any number is valid
    if not form.is_valid():
        return JsonResponse({"error": _("The search is not valid.")}, status=422)
    query = form.query(topic)
    try:
        running = start_search.start(request.principal, request.cluster, query)
    except (GatewayError, FilterInvalid) as error:
        text = search_stream.error_text(error)
        return JsonResponse({"error": text}, status=_status_of(error))
    masked, _unmasked = masking_rules.mask_targets(request.principal, request.cluster, topic)
    view = ResultView(
        request.cluster,
        topic,
        masked,
        form.display,
        is_followed=query.follows,
        matches_max=query.matches_max,
    )
    content = stream_chunks(running, search_stream.lines(running.events(), view))
    response = StreamingHttpResponse(content, content_type="application/x-ndjson")
    disable_buffering(response)
    return response


@require_safe
@requires("record.read", resource="topic")
def export(request: ClusterRequest, cluster: str, topic: str) -> HttpResponseBase:
    """All records that the search of the query finds, as a file."""
    page = search_page(request, topic, is_submitted=True)
    form: ExportForm = page["form"]
    page["is_running"] = False
    if not form.is_valid():
        return render(request, "records/search.html", page, status=422)
    name = form.cleaned_data["file_format"] or "jsonl"
    try:
        query = form.export_query(topic)
        running = run_export.start(request.principal, request.cluster, query, name)
    except (GatewayError, FilterInvalid) as error:
        return _failed(request, page, error)
    writer = writer_of(name, topic)
    content = stream_chunks(running, run_export.file_chunks(running.events(), writer))
    response = StreamingHttpResponse(content, content_type=writer.content_type)
    file_name = f"{topic}-{timezone.now():%Y%m%d-%H%M%S}.{writer.suffix}"
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    disable_buffering(response)
    return response


def _failed(request: ClusterRequest, page: dict[str, Any], error: Exception) -> HttpResponse:
    """The page of the search with its fields, and why the export did not begin."""
    page["error"] = search_stream.error_text(error)
    return render(request, "records/search.html", page, status=_status_of(error))


def _status_of(error: Exception) -> int:
    """422 also for a filter that cannot be used."""
    return http_status_of(error) if isinstance(error, GatewayError) else 422
