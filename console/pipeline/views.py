"""The page of a cluster's data pipeline: its levels, its runs, and the back-fill."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from console.accounts.decorators import requires
from console.accounts.error_texts import right_missing
from console.accounts.request_types import ClusterRequest
from console.live.page_renderer import LivePart, render_live
from console.pipeline import services
from console.pipeline.forms import BackfillForm
from monitoring.clock import now_ms


@require_http_methods(["GET", "HEAD", "POST"])
@requires("pipeline.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The page; a POST starts a back-fill."""
    may_backfill = request.rights.may("pipeline.backfill")
    posted = request.POST if request.method == "POST" else None
    if posted is not None and not may_backfill:
        raise PermissionDenied(right_missing(request.rights, "pipeline.backfill", name=None))
    form = BackfillForm(posted, now_ms=now_ms())
    if posted is not None and form.is_valid() and _start(request, form):
        return redirect("pipeline", cluster)
    part = LivePart(request, "pipeline")
    extra = {"form": form, "may_backfill": may_backfill}
    response = render_live(request, "pipeline/index.html", part, **extra)
    response.status_code = 200 if posted is None else 422
    return response


def _start(request: ClusterRequest, form: BackfillForm) -> bool:
    days = form.cleaned_data
    try:
        services.start_backfill(request.principal, request.cluster, days["from_ms"], days["to_ms"])
    except ValueError as error:
        texts = {
            "running": _("A back-fill runs already. Wait for it, or stop it."),
            "failed": _("A back-fill has failed. Resume it, or stop it."),
            "no_ticks": _("No raw ticks of these days are kept. Choose later days."),
        }
        form.add_error(None, texts[str(error)])
        return False
    messages.success(request, _("The back-fill starts within five minutes."))
    return True


@require_POST
@requires("pipeline.backfill")
def stop(request: ClusterRequest, cluster: str) -> HttpResponse:
    if services.stop_backfill(request.principal, request.cluster):
        text = _(
            "The back-fill stops after the hour that is computed now. "
            "The day of that hour is not computed again."
        )
        messages.success(request, text)
    else:
        messages.info(request, _("No back-fill runs."))
    return redirect("pipeline", cluster)


@require_POST
@requires("pipeline.backfill")
def resume(request: ClusterRequest, cluster: str) -> HttpResponse:
    if services.resume_backfill(request.principal, request.cluster):
        messages.success(request, _("The back-fill goes on within five minutes."))
    else:
        messages.info(request, _("No back-fill has failed."))
    return redirect("pipeline", cluster)
