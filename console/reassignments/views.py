"""Reassignments of a cluster: in progress, the form of a new one, and elections of leaders."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.actions.redirect_to_plan import (
    form_data,
    read_only_text,
    redirect_to_plan,
)
from console.live import snapshot_cache
from console.reassignments import reassignment_plans, reassignments_page
from console.reassignments.forms import ReassignForm
from console.reassignments.reassignment_plans import VERB, WantedAssignment
from console.topics.actions.bulk import TOPICS_MAX
from console.topics.changeable_topics import why_not_changeable, why_not_reassignable
from console.topics.topic_list import selected_names
from console.ui.error_status import http_status_of
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError

_ROWS_MAX = 500


@require_safe
@requires("topic.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return _page(request)


@require_POST
@requires("topic.reassign")
def cancel(request: ClusterRequest, cluster: str) -> HttpResponse:
    topic = request.POST.get("topic", "")[:300]
    return _redirect_or_page(
        request,
        lambda: reassignment_plans.propose_cancel(request.principal, request.cluster, topic),
    )


@require_POST
@requires("topic.reassign")
def elect(request: ClusterRequest, cluster: str) -> HttpResponse:
    """Plan an election: for a partition, a topic, or (without a topic) all topics."""
    topic, number = request.POST.get("topic", "")[:300], request.POST.get("partition", "")
    partition = int(number) if number.isdecimal() and len(number) < 10 else None
    return _redirect_or_page(
        request,
        lambda: reassignment_plans.propose_election(
            request.principal, request.cluster, topic, partition
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.reassign")
def plan_reassign(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The list of topics posts the selected names, other pages link with them in the query; a POST
    of this form has `plan`, and makes a plan."""
    sent = form_data(request) or request.GET
    names = selected_names(request.cluster, request.rights, sent)
    context: dict[str, Any] = {"topic": names[0] if len(names) == 1 else "", "names": names}
    context["title"] = _("Reassign partitions")
    template = "reassignments/form.html"
    if reason := _refusal_reason(request, names):
        return render(request, template, {**context, "reason": reason}, status=422)
    try:
        state = reassignment_plans.read_state(request.cluster, names)
        form = ReassignForm(sent if "plan" in sent else None, names, state.racks)
        context |= {"form": form}
        if form.is_valid():
            data = form.cleaned_data
            wanted = WantedAssignment(
                data["brokers"], data["factor"], data["assignment"], form.throttle_bytes
            )
            return redirect_to_plan(
                request,
                form,
                lambda: reassignment_plans.propose_reassignment(
                    request.principal, request.cluster, names, state, wanted
                ),
                lambda status: render(request, template, context, status=status),
            )
    except GatewayError as error:
        context["reason"] = sentence(error.message)
        return render(request, template, context, status=http_status_of(error))
    return render(request, template, context, status=422 if form.is_bound else 200)


def _refusal_reason(request: ClusterRequest, names: list[str]) -> str:
    """Why these topics cannot be reassigned, or ""."""
    if request.cluster.read_only:
        return read_only_text()
    if not names:
        return _("Select at least one topic in the list.")
    if len(names) > TOPICS_MAX:
        return _("Select at most %(n)d topics.") % {"n": TOPICS_MAX}
    if not all(request.rights.may(VERB, name) for name in names):
        return _("Your role does not include this change for all of these topics.")
    snapshot = snapshot_cache.snapshot(request.cluster.slug, request.rights)
    refusals = map(why_not_changeable, names)
    return next(filter(None, refusals), "") or why_not_reassignable(snapshot)


def _redirect_or_page(request: ClusterRequest, propose: Callable[[], Plan]) -> HttpResponse:
    try:
        plan = propose()
    except PlanRefused as error:
        return _page(request, str(error), 422)
    except GatewayError as error:
        return _page(request, sentence(error.message), http_status_of(error))
    return redirect("plan", request.cluster.slug, plan.pk)


def _page(request: ClusterRequest, error: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {"error": error, "rows": [], "electable": {}, "reason": ""}
    context["may_change"] = request.rights.may(VERB) and not request.cluster.read_only
    try:
        rows = reassignments_page.read_progress(request.principal, request.cluster)
        context |= {"rows": rows[:_ROWS_MAX], "total": len(rows)}
        is_whole_page = "HX-Request" not in request.headers  # htmx loads only the rows again
        if context["may_change"] and is_whole_page:
            found = reassignment_plans.electable(request.principal, request.cluster)
            context["electable"] = dict(list(found.items())[:_ROWS_MAX])
    except GatewayError as problem:
        context["reason"] = sentence(problem.message)
        status = http_status_of(problem)
    return render(request, "reassignments/index.html", context, status=status)
