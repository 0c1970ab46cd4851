"""The side panel of one record: as a tree, as text and in hex, with the facts of its batch."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.records import read_records
from console.records.display_options import DEFAULT, DisplayForm
from console.records.hex_dump import DUMPED_BYTES_MAX, hex_dump
from console.records.json_tree import Node, tree
from console.records.shown_data import ShownData
from console.topics.topic_context import topic_context
from console.ui.error_status import http_status_of
from console.ui.kafka_number_limits import OFFSET_MAX, PARTITION_MAX
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, OffsetOutOfRange


@dataclass(frozen=True, slots=True)
class PanelPart:
    """A key or value: decoded, as a tree if it is JSON, and its first bytes in hex."""

    name: str
    title: str
    data: ShownData
    tree: Node | None = None
    hex: str = ""
    hex_is_cut: bool = False
    encoding_select: str = ""  # HTML of the control that chooses how its bytes are decoded


@require_safe
@requires("record.read", resource="topic")
def panel(
    request: ClusterRequest, cluster: str, topic: str, partition: int, offset: int
) -> HttpResponse:
    """The HTML of the panel, for record-panel.js."""
    if partition > PARTITION_MAX or offset > OFFSET_MAX:
        raise Http404(_("There is no such record."))
    form = DisplayForm(request.GET)
    display = form.display if form.is_valid() else DEFAULT
    context = topic_context(request, topic, "messages")
    try:
        row, record = read_records.read_shown(
            request.principal, request.cluster, topic, partition, offset, display
        )
    except GatewayError as error:
        context["error"] = sentence(error.message)
        is_gone = isinstance(error, OffsetOutOfRange)  # the offset is a part of the URL
        status = 404 if is_gone else http_status_of(error)
        return render(request, "records/panel.html", context, status=status)
    context["record"] = record
    context |= _batch(request, topic, partition, offset)
    context["parts"] = [
        _part("value", _("Value"), record.value, row.raw_value, form),
        _part("key", _("Key"), record.key, row.raw_key, form),
    ]
    return render(request, "records/panel.html", context)


def _batch(request: ClusterRequest, topic: str, partition: int, offset: int) -> dict[str, Any]:
    """The facts of the record's batch, or why there are none: the record is shown without them."""
    where = (topic, partition, offset)
    try:
        return {"batch": read_records.read_batch_facts(request.principal, request.cluster, *where)}
    except GatewayError as error:
        return {"batch_problem": sentence(error.message)}


def _part(
    name: str, title: str, data: ShownData, masked: bytes | None, form: DisplayForm
) -> PanelPart:
    """A key or value for the panel; `masked`: its bytes after masking."""
    if not masked or data.kind == "masked":
        return PanelPart(name, title, data)
    node = tree(data.text) if data.kind == "json" and not data.is_truncated else None
    is_cut = len(masked) > DUMPED_BYTES_MAX
    field = form[f"{name}_as"]
    attrs: dict[str, str | bool] = {
        "id": f"panel_{name}_as",
        "class": "form-select w-auto",
        "data-encoding": True,
        "aria-label": str(field.label),
    }
    select = field.as_widget(attrs=attrs)
    return PanelPart(
        name, title, data, tree=node, hex=hex_dump(masked), hex_is_cut=is_cut,
        encoding_select=select,
    )  # fmt: skip
