"""The download of an export."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.request_types import ClusterRequest
from console.records.exports import services
from console.records.exports.forms import ExportForm
from console.records.exports.writers import writer_of
from console.records.search_stream import error_text
from console.records.search_views import search_page
from console.records.streaming import send_at_once, streamed
from monitoring.gateway.errors import GatewayError
from monitoring.records.filters import FilterInvalid


@require_safe
@requires("record.read", resource="topic")
def export(request: ClusterRequest, cluster: str, topic: str) -> HttpResponseBase:
    """All records that the search of the query finds, as a file."""
    page = search_page(request, topic)
    form: ExportForm = page["form"]
    page["is_running"] = False
    if not form.is_valid():
        return render(request, "records/search.html", page, status=422)
    name = form.cleaned_data["file_format"] or "jsonl"
    try:
        query = form.export_query(topic)
        running = services.start(request.principal, request.cluster, query, name)
    except (GatewayError, FilterInvalid) as error:
        return _failed(request, page, error)
    writer = writer_of(name, topic)
    content = streamed(running, services.pieces(running.events(), writer))
    response = StreamingHttpResponse(content, content_type=writer.content_type)
    file_name = f"{topic}-{timezone.now():%Y%m%d-%H%M%S}.{writer.suffix}"
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    send_at_once(response)
    return response


def _failed(request: ClusterRequest, page: dict[str, Any], error: Exception) -> HttpResponse:
    """The page of the search with its fields, and why the export did not begin."""
    page["error"] = error_text(error)
    return render(request, "records/search.html", page, status=503)
