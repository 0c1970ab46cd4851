"""The views of the forms for changes to groups; each form makes a plan."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from console.accounts import outgoing_connection_rate_limit
from console.accounts.decorators import requires
from console.accounts.error_texts import group_not_found
from console.accounts.request_types import ClusterRequest
from console.actions import registry
from console.actions import services as plans
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.actions.redirect_to_plan import (
    form_data,
    read_only_text,
    redirect_to_plan,
    unreadable_text,
)
from console.groups import offset_plans
from console.groups.actions.members_check import members_text
from console.groups.forms import DeleteOffsetsForm, ResetForm
from console.groups.read_partitions_to_reset import resolve
from console.groups.reset_preview import preview_of
from console.live import snapshot_cache
from monitoring.gateway.errors import GatewayError

TOPICS_MAX = 1000  # in a list of choices
PREVIEWS_PER_MINUTE_MAX = 60  # of one user


@require_http_methods(["GET", "HEAD", "POST"])
@requires("group.alter", resource="group")
def plan_reset(request: ClusterRequest, cluster: str, group: str) -> HttpResponse:
    page = _page(request, group, registry.find("group.reset-offsets").title(group))
    form = ResetForm(form_data(request), request.FILES or None, group, page["topics"])
    return _redirect_or_form(
        request,
        "groups/reset.html",
        page,
        form,
        lambda: offset_plans.propose_reset(request.principal, request.cluster, group, form.reset()),
    )


@require_POST
@requires("group.alter", resource="group")
def preview_reset(request: ClusterRequest, cluster: str, group: str) -> HttpResponse:
    """What the reset in the form would change, beside the form. Makes no plan."""
    page = _page(request, group, title="")  # a part of a page: it shows no title
    form = ResetForm(request.POST, request.FILES or None, group, page["topics"])
    context: dict[str, Any] = {}
    try:
        if not outgoing_connection_rate_limit.allows(
            "reset-preview", request.user, PREVIEWS_PER_MINUTE_MAX
        ):
            raise PlanRefused(_("Too many previews. Wait a minute, or review the plan."))
        if form.is_valid():
            resolved = resolve(request.principal, request.cluster, group, form.reset())
            context["preview"] = preview_of(resolved)
        else:
            context["problems"] = form.problems()
    except PlanRefused as error:
        context["problems"] = [str(error)]
    except GatewayError as error:
        context["problems"] = [unreadable_text(error)]
    return render(request, "groups/reset_preview.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("group.alter", resource="group")
def plan_delete_offsets(request: ClusterRequest, cluster: str, group: str) -> HttpResponse:
    page = _page(request, group, _("Delete offsets of “%(name)s”") % {"name": group})
    form = DeleteOffsetsForm(form_data(request), page["topics"])
    return _redirect_or_form(
        request,
        "groups/change.html",
        page,
        form,
        lambda: offset_plans.propose_delete_offsets(
            request.principal, request.cluster, group, form.cleaned_data["topic"]
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires("group.delete", resource="group")
def plan_delete(request: ClusterRequest, cluster: str, group: str) -> HttpResponse:
    """POST makes a plan; the group is deleted when the plan is confirmed."""
    page = _page(request, group, registry.find("group.delete").title(group))
    form = forms.Form(form_data(request))
    return _redirect_or_form(
        request,
        "groups/change.html",
        page,
        form,
        lambda: plans.propose(
            request.principal, request.cluster, "group.delete", group, {"name": group}
        ),
    )


def _page(request: ClusterRequest, group: str, title: str) -> dict[str, Any]:
    """What all forms show. Raises Http404 if the sample has no such group."""
    snapshot = snapshot_cache.snapshot(request.cluster.slug, request.rights)
    row = snapshot.group(group) if snapshot else None
    if snapshot is not None and row is None:
        raise Http404(group_not_found(group))
    topics = snapshot.topics_of_group(group, TOPICS_MAX) if snapshot else []
    reason = ""
    if request.cluster.read_only:
        reason = read_only_text()
    return {
        "title": title,
        "name": group,
        "reason": reason,
        "members_text": members_text((row.members or 0) if row else 0),
        "topics": [found.topic for found in topics],
    }


def _redirect_or_form(
    request: ClusterRequest,
    template: str,
    page: dict[str, Any],
    form: forms.Form,
    propose: Callable[[], Plan],
) -> HttpResponse:
    """The form, with the reason if nothing can be changed; or the redirect to the new plan."""

    def form_page(status: int) -> HttpResponse:
        return render(request, template, {**page, "form": form}, status=status)

    if page["reason"]:
        return form_page(422)
    if request.method != "POST":
        return form_page(200)
    if not form.is_valid():
        return form_page(422)
    return redirect_to_plan(request, form, propose, form_page)
