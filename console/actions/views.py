"""The page of a plan: review before, progress during, result after."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from console.accounts.access import requires
from console.actions import models, services
from console.actions.models import Plan
from console.actions.plan import PlanRefused, is_expired
from monitoring.clock import now_ms


@require_safe
@requires("plan.view")
def show(request: HttpRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    return _page(request, _own(request, cluster, plan))


@require_POST
@requires("plan.view")
def apply(request: HttpRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    found = _own(request, cluster, plan)
    try:
        services.confirm(found, request.user, request.POST.get("typed", "")[:300])
    except PlanRefused as error:
        return _page(request, found, str(error), status=422)
    return redirect("plan", cluster, plan)


def _own(request: HttpRequest, cluster: str, plan: uuid.UUID) -> Plan:
    """The plan, for the person who made it; to anyone else it is not there."""
    return get_object_or_404(Plan, pk=plan, cluster=cluster, created_by=request.user)


def _page(request: HttpRequest, plan: Plan, error: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "plan": plan,
        "draft": plan.draft,
        "error": error,
        "expired": plan.state == models.DRAFT and is_expired(plan.created_ms, now_ms()),
        "steps": [
            (_("Plan"), False),
            (_("Review"), plan.state == models.DRAFT),
            (_("Apply"), plan.is_open),
            (_("Done"), not plan.is_open and plan.state != models.DRAFT),
        ],
        "created_ms": plan.created_ms,
        "topic_gone": plan.kind == "topic.delete" and plan.state == models.DONE,
    }
    return render(request, "actions/plan.html", context, status=status)
