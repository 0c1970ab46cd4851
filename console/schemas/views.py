"""The pages of subjects of a schema registry: the list, and one subject with its versions."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.schemas import read_subjects
from console.schemas.forms import VersionsForm
from console.ui.csv_export import page_or_csv
from console.ui.error_status import http_status_of
from console.ui.table import Column, Table
from console.ui.texts import sentence
from monitoring.gateway.errors import GatewayError
from monitoring.schema_registry.subjects import SubjectRow

_VERSION_DIGITS_MAX = 9


@require_safe
@requires("schema.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The subjects that the user may see."""
    context: dict[str, Any] = {"has_registry": bool(request.cluster.registry_url)}
    context["may_edit"] = request.rights.may("schema.edit") and not request.cluster.read_only
    columns = [
        Column("subject", _("Subject"), lambda row: row.name),
        Column("version", _("Latest version"), lambda row: row.version, numeric=True),
        Column("id", _("Id"), lambda row: row.id, numeric=True),
        Column("type", _("Type"), lambda row: row.type),
        Column("compatibility", _("Compatibility"), lambda row: row.compatibility),
    ]
    status = 200
    if context["has_registry"]:
        try:
            found = read_subjects.list_subjects(request.principal, request.cluster)
            context["found"] = found
            context["table"] = Table(request.GET, columns, "subject", id="subjects").show(
                found.rows, _search_text
            )
        except GatewayError as error:
            context["error"], status = sentence(error.message), http_status_of(error)
    return page_or_csv(request, "schemas/index.html", context, status=status)


@require_safe
@requires("schema.view", resource="subject")
def subject(request: ClusterRequest, cluster: str, subject: str) -> HttpResponse:
    """A subject: one of its versions, and the differences to another one."""
    may_change = not request.cluster.read_only
    context: dict[str, Any] = {
        "name": subject,
        "may_edit": may_change and request.rights.may("schema.edit", subject),
        "may_delete": may_change and request.rights.may("schema.delete", subject),
    }
    numbers = (_version_number(request.GET.get(key, "")) for key in ("version", "compare"))
    status = 200
    try:
        shown = read_subjects.read_subject(request.principal, request.cluster, subject, *numbers)
        context["shown"] = shown
        versions = shown.subject.versions
        context["form"] = VersionsForm(shown.version.number, shown.other, versions)
        may_read = request.rights.may("record.read", shown.topic) if shown.topic else False
        context["topic_page"] = "messages" if may_read else "topic"
    except GatewayError as error:
        context["error"], status = sentence(error.message), http_status_of(error)
    return render(request, "schemas/subject.html", context, status=status)


def _search_text(row: SubjectRow) -> str:
    return f"{row.name} {row.type or ''} {row.compatibility or ''} {row.id or ''}"


def _version_number(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= _VERSION_DIGITS_MAX
    return int(text) if is_number else None
