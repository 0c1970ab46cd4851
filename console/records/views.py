"""The page of a topic's records, and the download of one."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.records import read_records, record_download, unread_partition_notices
from console.records.display_options import DEFAULT
from console.records.forms import BrowseForm
from console.topics.topic_context import topic_context
from console.ui.error_status import http_status_of
from console.ui.kafka_number_limits import OFFSET_MAX, PARTITION_MAX
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, NotFound, OffsetOutOfRange


@require_safe
@requires("record.read", resource="topic")
def browse(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The records of a topic, and notices about partitions that could not be read.

    By time or key, it goes on to the search.
    """
    page: dict[str, Any] = topic_context(request, topic, "messages")
    page["partitions"] = page["snapshot"].partitions(topic) if page["snapshot"] else []
    page["form"] = BrowseForm(request.GET, [row.partition for row in page["partitions"]])
    is_valid = page["form"].is_valid()
    if is_valid and page["form"].is_search:
        url = reverse("messages-search", args=[cluster, topic])
        return redirect(f"{url}?{page['form'].search_query_string()}")
    page["display"] = page["form"].display if is_valid else DEFAULT
    status = _read(request, page) if is_valid else 422
    return render(request, "records/browse.html", page, status=status)


def _read(request: ClusterRequest, page: dict[str, Any]) -> int:
    """Put the records or an error into the context; returns the response's status."""
    query = page["form"].query(page["topic"])
    try:
        result = read_records.read(request.principal, request.cluster, query)
    except OffsetOutOfRange as error:
        page["form"].add_error("offset", sentence(error.message))
        return 422
    except GatewayError as error:
        page["error"] = sentence(error.message)
        return http_status_of(error)
    page["unread_notices"] = unread_partition_notices.notices(
        result.unread, page["snapshot"], page["topic"]
    )
    page["result"], page["query"], page["records"] = result, query, result.records
    options = query.display.query_string
    page["display_params"] = f"&{options}" if options else ""
    is_empty = not result.records and result.older_before is None
    return 503 if result.unread and is_empty else 200


@require_safe
@requires("record.read", resource="topic")
def download(
    request: ClusterRequest, cluster: str, topic: str, partition: int, offset: int, part: str
) -> HttpResponse:
    """Download a record: its value, or the whole record as JSON."""
    if part not in record_download.FORMATS or partition > PARTITION_MAX or offset > OFFSET_MAX:
        raise Http404(_("There is no such file."))
    try:
        position = (topic, partition, offset)
        record = read_records.read_row(request.principal, request.cluster, *position)
    except (NotFound, OffsetOutOfRange) as error:
        raise Http404(sentence(error.message)) from error
    except GatewayError as error:
        status = http_status_of(error)
        return HttpResponse(sentence(error.message), "text/plain; charset=utf-8", status)
    content = record_download.content(topic, record, part)
    if content is None:
        raise Http404(_("The value of this record is null."))
    response = HttpResponse(content, content_type=record_download.FORMATS[part].content_type)
    name = f"{topic}-{partition}-{offset}{record_download.FORMATS[part].suffix}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
