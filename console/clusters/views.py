"""The clusters this console knows: list, add, edit, remove. Changing them is for admins."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from console.accounts.access import requires
from console.accounts.rights import may, rights_of
from console.accounts.services import take_back
from console.audit import services as audit
from console.clusters import services
from console.clusters.forms import ClusterForm
from console.live import snapshot_cache
from console.messages.services import move_masking_rules
from monitoring import identity
from monitoring.cluster_cleanup import delete_cluster_data
from monitoring.models import Cluster


@require_safe
@requires("cluster.view")
def index(request: HttpRequest) -> HttpResponse:
    rows = []
    for cluster in Cluster.objects.all():
        rights = rights_of(request.user, cluster)
        if rights.may("cluster.view"):
            shown = snapshot_cache.snapshot(cluster.slug, rights)
            rows.append(
                {
                    "cluster": cluster,
                    "status": snapshot_cache.status(cluster.slug, rights),
                    "totals": shown.totals if shown else None,
                    "role": rights.role,
                    "same": ", ".join(_same(request, cluster)),
                }
            )
    may_edit = may(request.user, "cluster.edit")
    return render(request, "clusters/index.html", {"rows": rows, "may_edit": may_edit})


def _same(request: HttpRequest, cluster: Cluster) -> list[str]:
    """The other entries of the same cluster, of those that the user may see."""
    found = identity.others(cluster)
    return [other.name for other in found if may(request.user, "cluster.view", other)]


@require_http_methods(["GET", "HEAD", "POST"])
@requires("cluster.edit")
def add(request: HttpRequest) -> HttpResponse:
    return _form(request, Cluster(), "cluster.add")


@require_http_methods(["GET", "HEAD", "POST"])
@requires("cluster.edit")
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    return _form(request, _cluster(slug), "cluster.edit")


def _form(request: HttpRequest, cluster: Cluster, verb: str) -> HttpResponse:
    """Shows the form, tests the connection, or saves, as the button pressed says."""
    before = _masked_record(cluster)
    posted = request.POST if request.method == "POST" else None
    form = ClusterForm(posted, instance=cluster)
    tested: services.Tested | None = None
    status = 200
    if request.method == "POST" and not form.is_valid():
        status = 422
    elif request.method == "POST" and "test" in request.POST:
        tested = services.test_connection(form.save(commit=False), request.user)
    elif request.method == "POST":
        saved = form.save()
        snapshot_cache.forget(saved.slug)
        audit.record_request(request, verb, saved.name, before, form.shown(), saved.slug)
        messages.success(request, _("The cluster “%(name)s” was saved.") % {"name": saved.name})
        for other in services.learn_identity(saved):
            told = {"name": saved.name, "other": other.name}
            messages.warning(request, _(
                "“%(name)s” leads to the same cluster as “%(other)s”. Masking rules of either hold "
                "for both; roles, alert rules and history are kept apart."
            ) % told)  # fmt: skip
        return redirect("clusters")
    context = {"form": form, "cluster": cluster, "tested": tested, "is_new": cluster.pk is None}
    return render(request, "clusters/form.html", context, status=status)


def _masked_record(cluster: Cluster) -> dict[str, Any]:
    if cluster.pk is None:
        return {}
    names = ("name", "slug", "bootstrap_servers", "zookeeper_connect", "read_only", "admin_urls")
    return {name: getattr(cluster, name) for name in names}


@require_http_methods(["POST"])
@requires("cluster.edit")
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Forgets a cluster and all that was kept of it; the cluster itself is not touched."""
    cluster = _cluster(slug)
    if request.POST.get("typed", "") != cluster.slug:
        messages.error(request, _("Type the cluster's short name to remove it."))
        return redirect("cluster-edit", slug)
    before = _masked_record(cluster)
    with transaction.atomic():
        before |= {"roles": take_back(slug)}
        move_masking_rules(cluster)
        cluster.delete()
        audit.record_request(request, "cluster.remove", str(before["name"]), before, cluster=slug)
    delete_cluster_data(slug)
    snapshot_cache.forget(slug)
    messages.success(request, _("“%(name)s” is no longer watched.") % {"name": before["name"]})
    return redirect("clusters")


def _cluster(slug: str) -> Cluster:
    found = Cluster.objects.filter(slug=slug).first()
    if found is None:
        raise Http404(_("There is no such cluster here."))
    return found
