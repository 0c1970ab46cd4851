"""The views of the forms for changes to subjects; each form makes a plan."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import registry, services
from console.actions.redirect_to_plan import (
    form_data,
    read_only_text,
    redirect_to_plan,
)
from console.schemas import read_subjects
from console.schemas.forms import (
    CompatibilityForm,
    DeleteVersionForm,
    RegisterForm,
    SubjectForm,
)
from console.schemas.read_subjects import ShownSubject
from console.ui.error_status import http_status_of
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError, NotFound


@require_http_methods(["GET", "HEAD", "POST"])
@requires("schema.edit")
def plan_create(request: ClusterRequest, cluster: str) -> HttpResponse:
    """Register the schema of a subject that the form names."""
    form = SubjectForm(form_data(request))
    if form.is_bound and form.is_valid():
        subject = form.cleaned_data["subject"]
        return _propose(request, form, "schema.register", subject, form.params(subject))
    return _form(request, form, _("Register a schema"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires("schema.edit", resource="subject")
def plan_register(request: ClusterRequest, cluster: str, subject: str) -> HttpResponse:
    """The form begins with the latest version, if the subject has one."""
    title = registry.find("schema.register").title(subject)
    form = RegisterForm(form_data(request))
    if form.is_bound and form.is_valid():
        return _propose(request, form, "schema.register", subject, form.params(subject))
    if not form.is_bound:
        try:
            shown = read_subjects.read_subject(
                request.principal, request.cluster, subject, number=None, other=None
            )
        except NotFound:
            pass  # its first version
        except GatewayError as error:
            return _refused(request, title, subject, sentence(error.message), http_status_of(error))
        else:
            form.initial = _latest(shown)
    return _form(request, form, title, subject)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("schema.edit", resource="subject")
def plan_compatibility(request: ClusterRequest, cluster: str, subject: str) -> HttpResponse:
    action = "schema.set-compatibility"
    form = CompatibilityForm(form_data(request), initial={"level": request.GET.get("level", "")})
    if form.is_bound and form.is_valid():
        params = {"subject": subject, "level": form.cleaned_data["level"]}
        return _propose(request, form, action, subject, params)
    return _form(request, form, registry.find(action).title(subject), subject)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("schema.delete", resource="subject")
def plan_delete(request: ClusterRequest, cluster: str, subject: str) -> HttpResponse:
    action = "schema.delete-version"
    version = request.GET.get("version", "")[:9]
    form = DeleteVersionForm(form_data(request), initial={"version": version})
    if form.is_bound and form.is_valid():
        params = {"subject": subject, "version": form.cleaned_data["version"]}
        return _propose(request, form, action, subject, params)
    return _form(request, form, registry.find(action).title(subject), subject)


def _latest(shown: ShownSubject) -> dict[str, str]:
    """The values of a form that begins with this version."""
    references = (" ".join(map(str, each)) for each, is_visible in shown.references if is_visible)
    return {
        "type": shown.version.schema.type,
        "schema": shown.text,
        "references": "\n".join(references),
    }


def _propose(
    request: ClusterRequest, form: forms.Form, action: str, subject: str, params: Mapping[str, Any]
) -> HttpResponse:
    title = registry.find(action).title(subject)
    linked = "" if isinstance(form, SubjectForm) else subject  # a new subject has no page
    return redirect_to_plan(
        request,
        form,
        lambda: services.propose(request.principal, request.cluster, action, subject, params),
        lambda status: _form(request, form, title, linked, status),
    )


def _refused(
    request: ClusterRequest, title: str, subject: str, reason: str, status: int = 422
) -> HttpResponse:
    context = {"title": title, "subject": subject, "reason": reason, "list_page": "schemas"}
    return render(request, "schemas/change.html", context, status=status)


def _form(
    request: ClusterRequest, form: forms.Form, title: str, subject: str = "", status: int = 200
) -> HttpResponse:
    if request.cluster.read_only:
        return _refused(request, title, subject, read_only_text())
    if form.errors and status == 200:
        status = 422
    context = {"form": form, "title": title, "subject": subject, "list_page": "schemas"}
    return render(request, "schemas/change.html", context, status=status)
