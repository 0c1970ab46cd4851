"""Reading records, and the rules that cover parts of them."""

from typing import Any

from django.contrib import messages as notices
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.accounts.access import requires
from console.audit import services as audit
from console.live.rows import PartitionRow
from console.messages import services
from console.messages.forms import BrowseForm, MaskingRuleForm
from console.messages.models import MaskingRule
from console.topics import gaps
from console.topics.frame import frame
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, NotFound, OffsetOutOfRange


@require_safe
@requires("record.read", resource="topic")
def browse(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    """The records of a topic, newest first; what could not be read is named."""
    page: dict[str, Any] = frame(request, topic, "messages")
    page["rows"] = page["shown"].partitions(topic) if page["shown"] else []
    page["form"] = BrowseForm(request.GET, [row.partition for row in page["rows"]])
    status = _read(request, page) if page["form"].is_valid() else 422
    return render(request, "messages/browse.html", page, status=status)


def _read(request: HttpRequest, page: dict[str, Any]) -> int:
    """Puts the records into the page, or why there are none; returns the answer's status."""
    query = page["form"].query(page["topic"])
    try:
        found = services.read(request.user, request.cluster, query)
    except OffsetOutOfRange as error:
        page["form"].add_error("offset", sentence(error.message))
        return 422
    except NotFound as error:
        page["error"] = sentence(error.message)
        return 404
    except GatewayError as error:
        page["error"] = sentence(error.message)
        return 503 if error.retriable else 502
    page["gaps"] = gaps.told(found.unread, page["shown"], page["topic"])
    page["records"] = found.records
    page |= _neighbours(query, found.records, page["rows"])
    return 200 if found.records or not found.unread else 503


def _neighbours(
    query: services.Query,
    records: list[services.ShownRecord],
    rows: list[PartitionRow],
) -> dict[str, int]:
    """Offsets that lead to older and newer records of one partition, where there are any."""
    row = next((row for row in rows if row.partition == query.partition), None)
    if row is None or not records:
        return {}
    links = {}
    start, end = row.log_start_offset or 0, row.log_end_offset or 0
    if records[-1].offset > start:
        links["older"] = max(start, records[-1].offset - query.limit)
    if query.offset is not None and records[0].offset + 1 < end:
        links["newer"] = records[0].offset + 1
    return links


@require_http_methods(["GET", "HEAD", "POST"])
@requires("masking.edit")
def masking(request: HttpRequest, cluster: str) -> HttpResponse:
    """The masking rules of a cluster: list and add."""
    rule = MaskingRule(cluster=request.cluster)
    form = MaskingRuleForm(request.POST if request.method == "POST" else None, instance=rule)
    if form.is_valid():
        form.save()
        audit.record_request(request, "masking.add", rule.topic_pattern, after=_told(rule))
        notices.success(request, _("Records of %(topics)s are masked now.") % {
            "topics": rule.topic_pattern
        })  # fmt: skip
        return redirect("masking", cluster=cluster)
    rules = MaskingRule.objects.filter(cluster=request.cluster)
    context = {"form": form, "rules": rules}
    return render(request, "messages/masking.html", context, status=422 if form.errors else 200)


@require_POST
@requires("masking.edit")
def remove_masking(request: HttpRequest, cluster: str, rule_id: int) -> HttpResponse:
    rule = MaskingRule.objects.filter(pk=rule_id, cluster=request.cluster).first()
    if rule is None:
        raise Http404(_("There is no such masking rule here. It may be removed already."))
    audit.record_request(request, "masking.remove", rule.topic_pattern, _told(rule))
    rule.delete()
    notices.success(request, _("The rule is gone: those records are shown in full again."))
    return redirect("masking", cluster=cluster)


def _told(rule: MaskingRule) -> dict[str, Any]:
    """A rule as the audit log keeps it."""
    return {"topics": rule.topic_pattern, "covered": rule.target}
