"""Saving, changing and deleting saved queries. templatetags/ has the menu that lists them."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.saved_queries import services
from console.saved_queries.forms import NameForm, SaveForm
from console.saved_queries.links import page_url, query_url
from console.saved_queries.models import SavedQuery
from console.saved_queries.pages import saved_part
from console.saved_queries.services import SavedQueryRefused


@require_POST
@requires("cluster.view")
def save(request: ClusterRequest, cluster: str) -> HttpResponse:
    form = SaveForm(request.POST, may_share=request.rights.may("query.share"))
    if form.is_valid():
        values = {"is_shared": False} | form.cleaned_data
        try:
            row = services.save(request.principal, request.cluster, **values)
        except SavedQueryRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The query “%(name)s” was saved.") % {"name": row.name})
            return redirect(query_url(cluster, row))
    context = {"form": form, "back": _shown_page(request)}
    return render(request, "saved_queries/save.html", context, status=422)


def _shown_page(request: ClusterRequest) -> str:
    """The URL of the page whose query was to be saved; of the overview if there is no such page."""
    page, topic, query = (request.POST.get(name, "") for name in ("page", "topic", "query"))
    if not services.may_use(request.rights, page, topic):
        return reverse("dashboard", args=[request.cluster.slug])
    return f"{page_url(request.cluster.slug, page, topic)}?{saved_part(query) or ''}"


@require_http_methods(["GET", "HEAD", "POST"])
@requires("cluster.view")
def edit(request: ClusterRequest, cluster: str, query: int) -> HttpResponse:
    row = _query_or_404(request, query)
    options: dict[str, Any] = {"may_share": request.rights.may("query.share")}
    initial = {"name": row.name, "is_shared": row.is_shared}
    form = NameForm(request.POST if request.method == "POST" else None, initial=initial, **options)
    if form.is_valid():
        values = {"is_shared": row.is_shared} | form.cleaned_data
        try:
            services.change(request.principal, request.cluster, row, **values)
        except SavedQueryRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The query “%(name)s” was changed.") % {"name": row.name})
            return redirect(query_url(cluster, row))
    context = {
        "form": form,
        "query": row,
        "name": initial["name"],
        "url": query_url(cluster, row),
        "is_own": row.owner_id == request.user.pk,
    }
    return render(request, "saved_queries/edit.html", context, status=422 if form.errors else 200)


@require_POST
@requires("cluster.view")
def delete(request: ClusterRequest, cluster: str, query: int) -> HttpResponse:
    row = _query_or_404(request, query)
    services.delete(request.principal, request.cluster, row)
    messages.success(request, _("The query “%(name)s” was deleted.") % {"name": row.name})
    return redirect(page_url(cluster, row.page, row.topic))


def _query_or_404(request: ClusterRequest, query_id: int) -> SavedQuery:
    row = services.find_changeable(request.principal, request.cluster, query_id)
    if row is None:
        raise Http404(_("There is no such saved query. It may have been deleted."))
    return row
