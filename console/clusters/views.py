"""The pages of clusters: list, add, edit, remove. Changes are for admins."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import UserRequest
from console.clusters import cluster_list, services
from console.clusters.connection_check import ConnectionResult, check_connection
from console.clusters.forms import ClusterForm
from console.ui.csv_export import page_or_csv
from monitoring.models import Cluster


@require_safe
@requires("cluster.view")
def index(request: UserRequest) -> HttpResponse:
    table = cluster_list.table_of(request.principal, request.GET)
    may_edit = request.rights.may("cluster.edit")
    return page_or_csv(request, "clusters/index.html", {"table": table, "may_edit": may_edit})


@require_http_methods(["GET", "HEAD", "POST"])
@requires("cluster.edit")
def add(request: UserRequest) -> HttpResponse:
    return _form(request, Cluster())


@require_http_methods(["GET", "HEAD", "POST"])
@requires("cluster.edit")
def edit(request: UserRequest, slug: str) -> HttpResponse:
    return _form(request, _editable(request, slug))


def _form(request: UserRequest, cluster: Cluster) -> HttpResponse:
    """Show the form, test the connection, or save, depending on the button."""
    before = services.audit_fields(cluster)
    posted = request.POST if request.method == "POST" else None
    form = ClusterForm(posted, instance=cluster)
    test_result: ConnectionResult | None = None
    status = 200
    if request.method == "POST" and not form.is_valid():
        status = 422
    elif request.method == "POST" and "test" in request.POST:
        test_result = check_connection(request.principal, form.save(commit=False))
    elif request.method == "POST":
        others = services.save(request.principal, form, before)
        messages.success(request, _("The cluster “%(name)s” was saved.") % {"name": cluster.name})
        for other in others:
            params = {"name": cluster.name, "other": other.name}
            messages.warning(request, _(
                "“%(name)s” and “%(other)s” are the same Kafka cluster. Masking rules apply to "
                "both; roles, alert rules and history are separate."
            ) % params)  # fmt: skip
        return redirect("clusters")
    context = {
        "form": form,
        "cluster": cluster,
        "test_result": test_result,
        "test_steps": test_result.steps(cluster) if test_result else [],
        "is_test": request.method == "POST" and "test" in request.POST,
        "is_new": cluster.pk is None,
    }
    return render(request, "clusters/form.html", context, status=status)


@require_http_methods(["POST"])
@requires("cluster.edit")
def remove(request: UserRequest, slug: str) -> HttpResponse:
    """Delete a cluster's entry and data in the console; the Kafka cluster is not changed."""
    cluster = _editable(request, slug)
    if request.POST.get("typed", "") != cluster.slug:
        messages.error(request, _("Type the cluster's short name to remove it."))
        return redirect("cluster-edit", slug)
    services.remove(request.principal, cluster)
    messages.success(request, _("“%(name)s” was removed.") % {"name": cluster.name})
    return redirect("clusters")


def _editable(request: UserRequest, slug: str) -> Cluster:
    """The cluster, if the user may edit it; a role for this cluster overrides the one for all."""
    found = Cluster.objects.filter(slug=slug).first()
    if found is None:
        raise Http404(_("There is no such cluster."))
    if not request.principal.may("cluster.edit", found):
        raise PermissionDenied(_("Your role on this cluster does not include “cluster.edit”."))
    return found
