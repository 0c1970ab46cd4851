"""The pages of a partition's segments, and of the content of one segment."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.access import requires
from console.accounts.requests import ClusterRequest
from console.accounts.rights import may
from console.messages.masking import rounded_size
from console.messages.services import is_masked
from console.segments import services
from console.topics import unread_partitions
from console.topics.topic_context import topic_context
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, OffsetOutOfRange, Refused, Unsupported
from monitoring.secrets import SecretUnreadable, decrypt, encrypt

START_MAX = 2**40
OFFSET_MAX = 2**63 - 1


@require_safe
@requires("segment.view", resource="topic")
def partition_segments(
    request: ClusterRequest, cluster: str, topic: str, partition: int
) -> HttpResponse:
    """The segments of a partition."""
    page = _page(request, topic, partition)

    def read() -> None:
        found = services.segments(request.cluster, page["row"])
        size_bytes = sum(s["size_bytes"] for s in found)
        if page["is_masked"]:
            found, size_bytes = (
                list(map(services.with_rounded_sizes, found)),
                rounded_size(size_bytes),
            )
        page.update(
            segments=[each | {"files": services.files(each)} for each in found],
            bars=services.bars(found),
            size_bytes=size_bytes,
        )

    return render(request, "segments/partition.html", page, status=_read_status(page, read))


@require_safe
@requires("segment.view", resource="topic")
def segment(
    request: ClusterRequest, cluster: str, topic: str, partition: int, base_offset: int
) -> HttpResponse:
    """The content of a segment: offset index, time index or batches."""
    kind = request.GET.get("show", "batches")
    kind = kind if kind in services.KINDS else "batches"
    page = _page(request, topic, partition) | {
        "base_offset": base_offset,
        "kind": kind,
        "kinds": _kind_tabs(kind),
    }
    place = f"{topic}/{partition}/{base_offset}/" if page["is_masked"] and kind == "batches" else ""
    start = page["start"] = _start(request, place)
    where = {"base": base_offset, "partition": partition}
    gone = Http404(_("Partition %(partition)d has no segment that begins at %(base)d.") % where)

    def read() -> None:
        files = services.segments(request.cluster, page["row"])
        if base_offset not in (file["base_offset"] for file in files):
            raise gone
        try:
            found = services.entries(request.cluster, page["row"], base_offset, kind, start)
        except Refused as error:
            if not start:
                raise
            text = _("This segment has no batch at position %(n)d.") % {"n": start}
            if place:
                text = _("This segment has no batch there any more.")
            raise OffsetOutOfRange(text) from error
        following = _next_start(kind, start, found)
        page.update(found=found, next_start=following)
        if page["is_masked"]:
            page["found"] = services.without_positions(found)
        if place and following:
            page["next_start"] = encrypt(f"{place}{following}")

    if base_offset > OFFSET_MAX:
        raise gone
    return render(request, "segments/segment.html", page, status=_read_status(page, read))


def _read_status(page: dict[str, Any], read: Callable[[], None]) -> int:
    """Call `read` if the partition has a leader; returns the status of the response."""
    row = page["row"]
    if row is None:
        return 200
    if row.is_offline:
        page["unread_notices"] = [unread_partitions.no_leader(row, page["snapshot"])]
        return 503
    try:
        read()
    except Unsupported:
        page["unsupported"] = True
    except OffsetOutOfRange as error:
        page["error"] = sentence(error.message)
        return 422
    except GatewayError as error:
        page["error"] = sentence(error.message)
        return 503 if error.retriable else 502
    return 200


def _page(request: ClusterRequest, topic: str, partition: int) -> dict[str, Any]:
    page = topic_context(request, topic, "segments") | {"partition": partition}
    known = page["snapshot"].partitions(topic) if page["snapshot"] else []
    page["partitions"] = known
    page["is_masked"] = is_masked(request.user, request.cluster, topic)
    page["may_edit_cluster"] = may(request.user, "cluster.edit")
    page["row"] = next((row for row in known if row.partition == partition), None)
    if known and page["row"] is None:
        raise Http404(_("This topic has no partition %(n)d.") % {"n": partition})
    return page


def _start(request: ClusterRequest, place: str) -> int:
    """The start of a page of entries; 0 if the parameter is not valid.

    With a `place` the parameter is encrypted together with it, so that users who see masked records
    can neither read nor guess positions.
    """
    text = request.GET.get("start", "")
    if place:
        try:
            opened = decrypt(text)
        except SecretUnreadable:
            return 0
        text = opened.removeprefix(place) if opened.startswith(place) else ""
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
