"""What the views of all forms of changes share: the data of the form, the redirect to the plan, and
error texts."""

from collections.abc import Callable

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from console.accounts.request_types import UserRequest
from console.actions import typed_form
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.ui.error_status import http_status_of
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError


def form_data(request: UserRequest) -> MultiValueDict[str, str] | None:
    """The data that a form is bound to: what a POST sent, or what the user had typed for the plan
    that `?again=` names; None for an empty form."""
    if request.method == "POST":
        return request.POST
    plan_id = request.GET.get(typed_form.PARAM, "")
    return typed_form.find(request.principal, request.path, plan_id) if plan_id else None


def redirect_to_plan(
    request: UserRequest,
    form: forms.Form,
    propose: Callable[[], Plan],
    render_form: Callable[[int], HttpResponse],
) -> HttpResponse:
    """Propose the plan of a valid form, and redirect to its page.

    If there is no plan, the form gets an error that says why, and `render_form` renders it with an
    HTTP status. Only a POST proposes: a form that a GET with `?again=` filled can be valid, but the
    user has not sent it.
    """
    if request.method != "POST":
        return render_form(200)
    try:
        plan = propose()
    except PlanRefused as error:
        form.add_error(None, str(error))
        return render_form(422)
    except GatewayError as error:
        form.add_error(None, unreadable_text(error))
        return render_form(http_status_of(error))
    typed_form.store(plan, request.path, form, request.POST)
    return redirect("plan", plan.cluster, plan.pk)


def unreadable_text(error: GatewayError) -> str:
    return _("The cluster could not be read: %(why)s") % {"why": sentence(error.message)}


def read_only_text() -> str:
    return _("This cluster is read-only in this console. An admin can change that under Clusters.")
