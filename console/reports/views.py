"""The pages of reports: list, new report, result.

Who may see a report: everyone with `report.view` who sees all topics that it was computed from.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.live.page_renderer import LivePart, render_live
from console.reports import report_list, report_page, services, texts
from console.reports.forms import RangeForm
from monitoring.clock import now_ms
from monitoring.reports import result_files
from monitoring.reports.models import Report, State
from monitoring.reports.report_lifecycle import WAITING_MAX, TooManyReports
from monitoring.spark.server_config import from_settings
from monitoring.spark.session import is_reachable


@require_safe
@requires("report.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    part = LivePart(request, "reports")
    reachable = is_reachable(from_settings())
    return render_live(request, "reports/index.html", part, spark_answers=reachable)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("report.run")
def new(request: ClusterRequest, cluster: str) -> HttpResponse:
    may_see_hidden = services.sees_own_topics(request.principal, request.cluster)
    posted = request.POST if request.method == "POST" else None
    form = RangeForm(posted, now_ms=now_ms(), may_see_hidden=may_see_hidden)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            report = _start(request, form.cleaned_data)
        except TooManyReports:
            form.add_error(
                None,
                _("%(n)d reports of this cluster are waiting already. Cancel one, or wait.")
                % {"n": WAITING_MAX},
            )
        else:
            return redirect("report", cluster, report.id)
    if request.method == "POST":
        status = 422
    context = {"form": form, "spark_answers": is_reachable(from_settings())}
    return render(request, "reports/new.html", context, status=status)


def _start(request: ClusterRequest, data: dict[str, Any]) -> Report:
    return services.start(
        request.principal,
        request.cluster,
        data["from_ms"],
        data["to_ms"],
        with_hidden=bool(data.get("with_hidden")),
    )


@require_safe
@requires("report.view")
def detail(request: ClusterRequest, cluster: str, report: uuid.UUID) -> HttpResponse:
    found = _find(request, report)
    return render(request, "reports/detail.html", _context(request, found))


@require_safe
@requires("report.view")
def state(request: ClusterRequest, cluster: str, report: uuid.UUID) -> HttpResponse:
    """The part of the page that changes while the report is computed."""
    found = _find(request, report)
    return render(request, "reports/body.html", _context(request, found))


@require_POST
@requires("report.run")
def cancel(request: ClusterRequest, cluster: str, report: uuid.UUID) -> HttpResponse:
    found = _find(request, report)
    if services.cancel(request.principal, found):
        messages.success(request, _("The report was cancelled."))
    else:
        messages.info(request, _("The report had finished already."))
    return redirect("report", cluster, found.id)


@require_POST
@requires("report.run")
def delete(request: ClusterRequest, cluster: str, report: uuid.UUID) -> HttpResponse:
    found = _find(request, report)
    services.delete(request.principal, found)
    messages.success(request, _("The report and its result were deleted."))
    return redirect("reports", cluster)


@require_safe
@requires("report.view")
def download(
    request: ClusterRequest, cluster: str, report: uuid.UUID, table: str, extension: str
) -> HttpResponse:
    """A table of the result as a file."""
    found = _find(request, report)
    try:
        path = result_files.read(found.result_dir).file(table, extension)
        content = path.read_bytes()
    except (result_files.ResultMissing, KeyError, OSError) as error:
        raise Http404(_("There is no such file.")) from error
    response = HttpResponse(content, content_type=result_files.FORMATS[extension])
    name = f"{found.kind}-{cluster}-{table}-{str(found.id)[:8]}.{extension}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _find(request: ClusterRequest, report: uuid.UUID) -> Report:
    found = services.find(request.principal, request.cluster, report)
    if found is None:
        raise Http404(_("There is no such report here."))
    return found


def _context(request: ClusterRequest, report: Report) -> dict[str, Any]:
    context = report_list.line(report) | {
        "may_run": request.rights.may("report.run"),
        "stage": texts.stage(report),
        "error": texts.error(report) if report.state == State.FAILED else "",
    }
    if report.state == State.DONE:
        try:
            context |= report_page.result(report)
        except (result_files.ResultMissing, OSError):
            context["is_gone"] = True
    return context
