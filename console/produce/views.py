"""The forms that write records to a topic; each makes a plan."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import registry
from console.actions.draft import PlanRefused
from console.actions.models import Plan
from console.actions.redirect_to_plan import form_data, read_only_text, redirect_to_plan
from console.produce import mock_plans, write_plans
from console.produce.actions.copy_records import CopyRecords, check_source
from console.produce.copy_form import CopyForm
from console.produce.copy_plans import clusters_to_copy_to, propose_copy
from console.produce.forms import (
    LinesForm,
    RecordForm,
    SendAgainForm,
    fitting_headers,
    initial_of,
)
from console.produce.mock_form import MockForm
from console.records import read_records
from console.topics.changeable_topics import why_not_writable
from console.topics.topic_context import topic_context
from console.ui.texts import sentence
from monitoring.clock import now_ms
from monitoring.gateway.errors import GatewayError

ONE, LINES, MOCK, COPY = "one", "lines", "mock", "copy"  # modes: the names of templates


@require_http_methods(["GET", "HEAD", "POST"])
@requires("record.write", resource="topic")
def write_one(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    return _write(request, topic, ONE, RecordForm)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("record.write", resource="topic")
def write_lines(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    return _write(request, topic, LINES, LinesForm)


def _write(
    request: ClusterRequest, topic: str, mode: str, form_class: type[RecordForm] | type[LinesForm]
) -> HttpResponse:
    page = _form_context(request, topic, mode)
    if page["reason"]:
        return _render(request, page, 422)
    initial = _initial_of_record(request, page) if mode == ONE and request.method != "POST" else {}
    form = form_class(
        form_data(request),
        request.FILES if request.method == "POST" else None,
        initial=dict(initial),
        **_form_arguments(request, page),
    )
    page["form"] = form
    if request.method == "POST" and form.is_valid():
        wanted = form.records_to_write(topic)
        return _redirect_or_form(
            request,
            page,
            lambda: write_plans.propose_write(request.principal, request.cluster, wanted),
        )
    return _render(request, page, 422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("record.write", resource="topic")
def write_mock(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The form of mock records; `preview` shows five of them, `review` makes the plan."""
    page = _form_context(request, topic, MOCK)
    if page["reason"]:
        return _render(request, page, 422)
    seed = {"seed": now_ms() % 1_000_000}
    form = MockForm(form_data(request), initial=seed, **_form_arguments(request, page))
    page["form"] = form
    if request.method == "POST" and form.is_valid():
        wanted = form.records_to_write(topic)
        if "preview" not in request.POST:
            return _redirect_or_form(
                request,
                page,
                lambda: mock_plans.propose_mock(request.principal, request.cluster, wanted),
            )
        page["preview"] = form.preview()
    return _render(request, page, 422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("record.write", resource="topic")
def copy(request: ClusterRequest, cluster: str, topic: str) -> HttpResponse:
    """The form that copies records of `topic` to another one."""
    page = _form_context(request, topic, COPY)
    page["title"] = registry.find(CopyRecords.action).title(topic)
    others = clusters_to_copy_to(request.principal, request.cluster)
    page["reason"] = _copy_refusal(request, topic, can_leave=bool(others))
    if page["reason"]:
        return _render(request, page, 422)
    own = None if request.cluster.read_only else request.cluster
    form = page["form"] = CopyForm(form_data(request), own=own, others=others)
    if request.method == "POST" and form.is_valid():
        chosen = form.ranges_to_copy(topic)
        return _redirect_or_form(
            request, page, lambda: propose_copy(request.principal, request.cluster, chosen)
        )
    return _render(request, page, 422 if form.errors else 200)


def _copy_refusal(request: ClusterRequest, topic: str, *, can_leave: bool) -> str:
    """Why the user cannot copy records of the topic; empty if they can. A read-only cluster can be
    copied to another one."""
    if request.cluster.read_only and not can_leave:
        return read_only_text()
    try:
        check_source(
            {"name": topic, "user": request.principal.user.pk, "cluster": request.cluster.slug}
        )
    except PlanRefused as error:
        return str(error)
    return ""


def _initial_of_record(request: ClusterRequest, page: dict[str, Any]) -> Mapping[str, Any]:
    """The initial values of the form: of the record `?partition=&offset=` that is sent again.

    Adds to `page` the record, or why it cannot be read.
    """
    form = SendAgainForm(request.GET)
    if "offset" not in request.GET or not form.is_valid():
        return {}
    partition_and_offset = form.cleaned_data["partition"], form.cleaned_data["offset"]
    try:
        record = write_plans.record_to_send_again(
            request.principal, request.cluster, page["topic"], *partition_and_offset
        )
    except GatewayError as error:
        page["unreadable_reason"] = sentence(error.message)
        return {}
    page["record_to_send_again"] = record
    page["headers_left_out"] = len(record.headers) - len(fitting_headers(record))
    return initial_of(record)


def _form_arguments(request: ClusterRequest, page: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a WriteForm about the topic and the cluster."""
    topic = page["topic"]
    try:
        registry = read_records.registry_of(request.cluster, topic)
    except GatewayError:  # its password cannot be decrypted: pages of records say so
        registry = None
    return {"partitions": page["partitions"], "topic": topic, "registry": registry}


def _form_context(request: ClusterRequest, topic: str, mode: str) -> dict[str, Any]:
    """The context of a form's page. Raises Http404 if the topic does not exist."""
    found = topic_context(request, topic, "messages")
    snapshot = found["snapshot"]
    reason = why_not_writable(request.cluster, topic)
    if request.cluster.read_only:
        reason = read_only_text()
    return {
        "topic": topic,
        "title": _("Write records to “%(name)s”") % {"name": topic},
        "mode": mode,
        "reason": reason,
        "partitions": [row.partition for row in snapshot.partitions(topic)] if snapshot else [],
    }


def _redirect_or_form(
    request: ClusterRequest, page: Mapping[str, Any], propose: Callable[[], Plan]
) -> HttpResponse:
    """The redirect to the new plan, or the form with the reason why there is none."""
    return redirect_to_plan(
        request, page["form"], propose, lambda status: _render(request, page, status)
    )


def _render(request: ClusterRequest, page: Mapping[str, Any], status: int) -> HttpResponse:
    return render(request, f"produce/{page['mode']}.html", dict(page), status=status)
