"""The segments of a partition: the files along its offsets, and what is inside one."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts import rights
from console.accounts.access import requires
from console.segments import services
from console.topics.frame import frame
from monitoring.gateway.errors import GatewayError, Unsupported

START_MAX = 2**40


@require_safe
@requires("segment.view", resource="topic")
def partition_segments(
    request: HttpRequest, cluster: str, topic: str, partition: int
) -> HttpResponse:
    """The files of a partition along its offsets."""
    page = _page(request, topic, partition)
    row = page.get("row")
    if row is not None:
        try:
            found = services.segments(request.cluster, row)
        except Unsupported:
            page["unsupported"] = True
        except GatewayError as error:
            page["error"] = error.message
        else:
            page |= {
                "segments": found,
                "bars": services.bars(found),
                "size_bytes": sum(s["size_bytes"] for s in found),
            }
    return render(request, "segments/partition.html", page)


@require_safe
@requires("segment.view", resource="topic")
def segment(
    request: HttpRequest, cluster: str, topic: str, partition: int, base_offset: int
) -> HttpResponse:
    """Inside one segment: its offset index, its time index or its batches."""
    kind = request.GET.get("show", "batches")
    kind = kind if kind in services.KINDS else "batches"
    page = _page(request, topic, partition) | {
        "base_offset": base_offset,
        "kind": kind,
        "kinds": _kind_tabs(kind),
        "start": _start(request),
    }
    row = page.get("row")
    if row is not None:
        try:
            found = services.entries(request.cluster, row, base_offset, kind, page["start"])
        except Unsupported:
            page["unsupported"] = True
        except GatewayError as error:
            page["error"] = error.message
        else:
            page |= {"found": found, "next_start": _next_start(kind, page["start"], found)}
    return render(request, "segments/segment.html", page)


def _page(request: HttpRequest, topic: str, partition: int) -> dict[str, Any]:
    page = frame(request, topic, "segments") | {"partition": partition}
    known = page["shown"].partitions(topic) if page["shown"] else []
    page["partitions"] = known
    page["may_edit_cluster"] = rights.may(request.user, "cluster.edit")
    page["row"] = next((row for row in known if row.partition == partition), None)
    if known and page["row"] is None:
        raise Http404(_("This topic has no partition %(n)d.") % {"n": partition})
    return page


def _start(request: HttpRequest) -> int:
    """Where a page of entries begins; anything that is no such number is the beginning."""
    text = request.GET.get("start", "")
    return min(int(text), START_MAX) if text.isascii() and text.isdigit() else 0


def _next_start(kind: str, start: int, found: dict[str, Any]) -> int | None:
    if kind == "batches":
        following = found.get("next_position")
        return following if found["batches"] and following else None
    end = start + len(found["entries"])
    return end if end < found["total"] else None


def _kind_tabs(kind: str) -> list[dict[str, Any]]:
    titles = {"batches": _("Batches"), "offset": _("Offset index"), "time": _("Time index")}
    return [
        {"title": title, "url": f"?show={key}", "active": key == kind}
        for key, title in titles.items()
    ]
