"""The page of a plan: review before, progress during, result after."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import expiry, models, registry, services, stop_plan, texts, typed_form
from console.actions.draft import PlanAlreadyConfirmed, PlanRefused
from console.actions.models import Plan
from console.actions.redirect_to_plan import status_of, unreadable_text
from monitoring.clock import now_ms
from monitoring.gateway.errors import GatewayError


@require_safe
@requires("plan.view")
def detail(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    """Those who may see the audit log can read the plans of others there, and do nothing else."""
    found = services.find_visible(request.principal, cluster, plan)
    if found is None:
        raise Http404(_no_such_plan())
    return _page(request, found)


@require_POST
@requires("plan.view")
def confirm(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    try:
        found = _own(request, cluster, plan)
    except Http404:
        services.audit_attempt_on_other_plan(request.principal, cluster, plan)
        raise
    try:
        services.confirm(found, request.principal, request.POST.get("typed", "")[:300])
    except PlanAlreadyConfirmed:
        messages.info(request, _("This plan was already confirmed. This is its current state."))
    except PlanRefused as error:
        # If this ended the plan, its page shows the reason.
        error_text = str(error) if found.state == models.PROPOSED else ""
        return _page(request, found, error_text, status=422)
    return redirect("plan", cluster, plan)


@require_POST
@requires("plan.view")
def undo(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    """Propose the undo of this plan; the new plan is reviewed like any other."""
    found = _own(request, cluster, plan)
    try:
        undo_plan = services.propose_undo(found, request.principal, request.cluster)
    except PlanRefused as error:
        return _page(request, found, str(error), status=422)
    except GatewayError as error:
        return _page(request, found, unreadable_text(error), status=status_of(error))
    return redirect("plan", cluster, undo_plan.pk)


@require_POST
@requires("plan.view")
def stop(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    found = _own(request, cluster, plan)
    try:
        is_asked = stop_plan.stop(found, request.principal)
    except PlanRefused as error:
        return _page(request, found, str(error), status=422)
    found.refresh_from_db()
    if not is_asked and not found.is_open and not found.is_stopped:
        messages.info(request, _("There was nothing to stop: the plan had ended."))
    return redirect("plan", cluster, plan)


@require_POST
@requires("plan.view")
def resume(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> HttpResponse:
    """Apply the items of a failed plan that were not applied."""
    found = _own(request, cluster, plan)
    try:
        services.resume(found, request.principal)
    except PlanAlreadyConfirmed:
        pass  # a double click: its page shows how far it is
    except PlanRefused as error:
        return _page(request, found, str(error), status=422)
    return redirect("plan", cluster, plan)


def _own(request: ClusterRequest, cluster: str, plan: uuid.UUID) -> Plan:
    found = services.find_own(request.principal, cluster, plan)
    if found is None:
        raise Http404(_no_such_plan())
    return found


def _no_such_plan() -> str:
    return _(
        "You have no such plan here. Only the user who made a plan and those who see the audit log "
        "can see it, and it is deleted after 90 days."
    )


def _page(request: ClusterRequest, plan: Plan, error: str = "", status: int = 200) -> HttpResponse:
    expired = plan.state == models.PROPOSED and expiry.is_expired(plan.created_ms, now_ms())
    action_type = registry.find(plan.action)
    is_own = plan.is_of(request.user)
    context: dict[str, Any] = {
        "heading": action_type.target.heading,
        "list_url": action_type.list_url(plan.cluster),
        "next_link": action_type.next_link(plan.cluster, plan.resource, plan.state == models.DONE),
        "plan": plan,
        "is_own": is_own,
        "draft": plan.draft,
        "confirm_label": action_type.confirm_label(),
        "error": error,
        "expired": expired,
        "expired_minutes": expiry.minutes(expiry.PROPOSED_AGE_MAX),
        "again_url": typed_form.again_url(plan)
        if is_own and (expired or plan.state in (models.FAILED, models.REFUSED))
        else "",
        "stages": [
            (_("Plan"), False),
            (_("Review"), plan.state == models.PROPOSED),
            (_("Apply"), plan.is_open),
            (texts.last_stage(plan), not plan.is_open and plan.state != models.PROPOSED),
        ],
        "created_ms": plan.created_ms,
        "current_step": texts.current_step(plan),
        "outcome": texts.outcome(plan),
        "steps": [(step, texts.step_state(step.state)) for step in action_type.plan_steps(plan)]
        if plan.state == models.FAILED and plan.step_states
        else [],
        "items": texts.items(plan) if plan.is_open or plan.state == models.FAILED else None,
        "can_stop": is_own and stop_plan.can_stop(plan),
        "can_resume": is_own and services.can_resume(plan),
        "result_links": action_type.result_links(plan) if plan.state != models.PROPOSED else [],
        "undo": services.undo_of(plan, request.principal, request.cluster) if is_own else None,
    }
    return render(request, "actions/plan.html", context, status=status)
