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
from console.actions import expiry, models, registry, services, state_texts, stop_plan, typed_form
from console.actions.draft import PlanAlreadyConfirmed, PlanRefused
from console.actions.models import Plan
from console.actions.redirect_to_plan import unreadable_text
from console.ui.error_status import http_status_of
from monitoring.clock import now_ms
from monitoring.gateway.errors import GatewayError


@require_safe
@requires("plan.view")
def detail(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> HttpResponse:
    """The page of a plan, for its author and those who may read it (plan_readers.py)."""
    plan = services.find_visible(request.principal, cluster, plan_id)
    if plan is None:
        raise Http404(_no_such_plan())
    return _page(request, plan)


@require_POST
@requires("plan.view")
def confirm(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> HttpResponse:
    try:
        plan = _own_plan(request, cluster, plan_id)
    except Http404:
        services.audit_confirm_of_other_plan(request.principal, cluster, plan_id)
        raise
    try:
        services.confirm(plan, request.principal, request.POST.get("typed", "")[:300])
    except PlanAlreadyConfirmed:
        messages.info(request, _("This plan was already confirmed. This is its current state."))
    except PlanRefused as error:
        # An expired plan has ended now: it shows the reason as its outcome.
        error_text = str(error) if plan.state == models.PROPOSED else ""
        return _page(request, plan, error_text, status=422)
    return redirect("plan", cluster, plan_id)


@require_POST
@requires("plan.view")
def undo(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> HttpResponse:
    """Propose the undo of this plan; the new plan is reviewed like any other."""
    plan = _own_plan(request, cluster, plan_id)
    try:
        undo_plan = services.propose_undo(plan, request.principal, request.cluster)
    except PlanRefused as error:
        return _page(request, plan, str(error), status=422)
    except GatewayError as error:
        return _page(request, plan, unreadable_text(error), status=http_status_of(error))
    return redirect("plan", cluster, undo_plan.pk)


@require_POST
@requires("plan.view")
def stop(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> HttpResponse:
    plan = _own_plan(request, cluster, plan_id)
    try:
        is_stopping = stop_plan.stop(plan, request.principal)
    except PlanRefused as error:
        return _page(request, plan, str(error), status=422)
    plan.refresh_from_db()
    if not is_stopping and not plan.is_open and not plan.is_stopped:
        messages.info(request, _("There was nothing to stop: the plan had ended."))
    return redirect("plan", cluster, plan_id)


@require_POST
@requires("plan.view")
def resume(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> HttpResponse:
    """Apply the items of a failed plan that were not applied."""
    plan = _own_plan(request, cluster, plan_id)
    try:
        services.resume(plan, request.principal)
    except PlanAlreadyConfirmed:
        pass  # a double click: its page shows how far it is
    except PlanRefused as error:
        return _page(request, plan, str(error), status=422)
    return redirect("plan", cluster, plan_id)


def _own_plan(request: ClusterRequest, cluster: str, plan_id: uuid.UUID) -> Plan:
    plan = services.find_own(request.principal, cluster, plan_id)
    if plan is None:
        raise Http404(_no_such_plan())
    return plan


def _no_such_plan() -> str:
    return _(
        "You have no such plan here. Only the user who made a plan and those who see all that it "
        "may name can see it, and it is deleted after 90 days."
    )


def _page(request: ClusterRequest, plan: Plan, error: str = "", status: int = 200) -> HttpResponse:
    is_expired = plan.state == models.PROPOSED and expiry.is_expired(plan.created_ms, now_ms())
    action_type = registry.find(plan.action)
    is_own = plan.is_of(request.user)
    context: dict[str, Any] = {
        "heading": action_type.target_type.heading,
        "list_url": action_type.list_url(plan.cluster),
        "next_link": action_type.next_link(plan.cluster, plan.resource, plan.state == models.DONE),
        "plan": plan,
        "is_own": is_own,
        "author": plan.created_by.username if plan.created_by else plan.confirmed_by,
        "draft": plan.draft,
        "confirm_label": action_type.confirm_label(),
        "error": error,
        "is_expired": is_expired,
        "expired_minutes": expiry.minutes(expiry.PROPOSED_AGE_MAX),
        "again_url": typed_form.again_url(plan)
        if is_own and (is_expired or plan.state in (models.FAILED, models.REFUSED))
        else "",
        "stages": [
            (_("Plan"), False),
            (_("Review"), plan.state == models.PROPOSED),
            (_("Apply"), plan.is_open),
            (state_texts.last_stage(plan), not plan.is_open and plan.state != models.PROPOSED),
        ],
        "created_ms": plan.created_ms,
        "current_step": state_texts.current_step(plan),
        "outcome": state_texts.outcome(
            plan, shows_address=is_own or request.rights.may("audit.view")
        ),
        "steps": [
            (step, state_texts.step_state(step.state)) for step in action_type.plan_steps(plan)
        ]
        if plan.state == models.FAILED and plan.step_states
        else [],
        "items": state_texts.items(plan) if plan.is_open or plan.state == models.FAILED else None,
        "can_stop": is_own and stop_plan.can_stop(plan),
        "can_resume": is_own and services.can_resume(plan),
        "result_links": action_type.result_links(plan) if plan.state != models.PROPOSED else [],
        "can_undo": is_own
        and services.undo_proposal(plan, request.principal, request.cluster) is not None,
    }
    return render(request, "actions/plan.html", context, status=status)
