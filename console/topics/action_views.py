"""The views of the forms for changes to topics; each form makes a plan."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from console.accounts.decorators import requires
from console.accounts.error_texts import topic_not_found
from console.accounts.request_types import ClusterRequest
from console.actions import registry, services
from console.actions.models import Plan
from console.actions.redirect_to_plan import (
    form_data,
    read_only_text,
    redirect_to_plan,
    unreadable_text,
)
from console.topics.changeable_topics import why_not_changeable
from console.topics.configure_form import ConfigureForm
from console.topics.forms import AddPartitionsForm, CreateTopicForm, PurgeForm
from console.topics.new_topic_presets import PRESETS, initial_values_like
from console.topics.purge_plans import propose_purge
from console.topics.topic_context import topic_context
from console.ui.error_status import http_status_of
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster

_TEMPLATES: dict[type[forms.Form], str] = {
    CreateTopicForm: "topics/create.html",
    ConfigureForm: "topics/configure.html",
    PurgeForm: "topics/purge.html",
}


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.create")
def plan_create(request: ClusterRequest, cluster: str) -> HttpResponse:
    if request.cluster.read_only:
        return _refused(request, registry.find("topic.create").title(""), read_only_text())
    try:
        initial = _initial(request)
    except GatewayError as error:
        title = registry.find("topic.create").title("")
        return _refused(request, title, unreadable_text(error), status=http_status_of(error))
    form = CreateTopicForm(form_data(request), initial=dict(initial))
    if request.method == "POST" and form.is_valid():
        params = form.params()
        return _propose(request, form, "topic.create", params["name"], params)
    return _form(request, form, registry.find("topic.create").title(""))


def _initial(request: ClusterRequest) -> Mapping[str, Any]:
    """The initial values of the form, of `?preset=` or the topic `?copy=`. Raises GatewayError."""
    source = request.GET.get("copy", "")
    if source and request.method != "POST":
        if not request.rights.may("topic.view", source):
            raise Http404(topic_not_found(source))
        with for_cluster(request.cluster) as gateway:
            return initial_values_like(gateway, source)
    preset = PRESETS.get(request.GET.get("preset", ""))
    return preset.initial if preset else {}


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.alter", resource="topic")
def plan_add_partitions(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    title = registry.find("topic.add-partitions").title(topic)
    if reason := _refusal_reason(request, topic):
        return _refused(request, title, reason, topic)
    form = AddPartitionsForm(form_data(request))
    if request.method == "POST" and form.is_valid():
        params = {"name": topic, "total": form.cleaned_data["total"]}
        return _propose(request, form, "topic.add-partitions", topic, params)
    return _form(request, form, title, topic=topic)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.configure", resource="topic")
def plan_configure(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    title = registry.find("topic.configure").title(topic)
    if reason := _refusal_reason(request, topic):
        return _refused(request, title, reason, topic)
    try:
        with for_cluster(request.cluster) as gateway:
            entries = gateway.topics.describe_configs(topic)
    except GatewayError as error:
        return _refused(request, title, unreadable_text(error), topic, http_status_of(error))
    form = ConfigureForm(form_data(request), entries)
    if request.method == "POST" and form.is_valid():
        params = {"name": topic, "configs": form.configs()}
        return _propose(request, form, "topic.configure", topic, params)
    return _form(request, form, title, topic=topic)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.purge", resource="topic")
def plan_purge(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    title = registry.find("topic.purge").title(topic)
    if reason := _refusal_reason(request, topic):
        return _refused(request, title, reason, topic)
    form = PurgeForm(form_data(request))
    if request.method == "POST" and form.is_valid():
        return _redirect_or_form(
            request,
            form,
            "topic.purge",
            topic,
            lambda: propose_purge(request.principal, request.cluster, topic, form.purge()),
        )
    return _form(request, form, title, topic=topic)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.delete", resource="topic")
def plan_delete(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """POST makes a plan; the topic is deleted when the plan is confirmed."""
    title = registry.find("topic.delete").title(topic)
    if reason := _refusal_reason(request, topic):
        return _refused(request, title, reason, topic)
    form = forms.Form(form_data(request))
    if request.method == "POST":
        return _propose(request, form, "topic.delete", topic, {"name": topic})
    return _form(request, form, title, topic=topic)


def _refusal_reason(request: ClusterRequest, topic: str) -> str:
    """Why this topic cannot be changed, or "". Raises Http404 if it does not exist."""
    topic_context(request, topic, "overview")
    return read_only_text() if request.cluster.read_only else why_not_changeable(topic)


def _refused(
    request: ClusterRequest, title: str, reason: str, topic: str = "", status: int = 422
) -> HttpResponse:
    """The page of a change that is not possible: the reason, without a form."""
    context = {"title": title, "topic": topic, "reason": reason}
    return render(request, "topics/change.html", context, status=status)


def _propose(
    request: ClusterRequest, form: forms.Form, action: str, topic: str, params: Mapping[str, Any]
) -> HttpResponse:
    return _redirect_or_form(
        request,
        form,
        action,
        topic,
        lambda: services.propose(request.principal, request.cluster, action, topic, params),
    )


def _redirect_or_form(
    request: ClusterRequest, form: forms.Form, action: str, topic: str, propose: Callable[[], Plan]
) -> HttpResponse:
    """The redirect to the new plan, or the form with the reason why there is none."""
    action_type = registry.find(action)
    title = action_type.title(topic)
    existing_topic = "" if action_type.creates else topic
    return redirect_to_plan(
        request, form, propose, lambda status: _form(request, form, title, existing_topic, status)
    )


def _form(
    request: ClusterRequest,
    form: forms.Form,
    title: str,
    topic: str = "",
    status: int | None = None,
) -> HttpResponse:
    """The page of a form; without a `status` 422 if it was posted with errors, else 200."""
    if status is None:
        status = 422 if request.method == "POST" and form.errors else 200
    context = {"form": form, "title": title, "topic": topic}
    if isinstance(form, CreateTopicForm):
        chosen = request.GET.get("preset", "")
        context |= {
            "presets": [(key, preset, key == chosen) for key, preset in PRESETS.items()],
            "copy": request.GET.get("copy", ""),
        }
    template = _TEMPLATES.get(type(form), "topics/change.html")
    return render(request, template, context, status=status)
