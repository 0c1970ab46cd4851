"""The page of the targets that outgoing requests may reach. For admins."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from console.accounts.decorators import requires
from console.accounts.request_types import UserRequest
from console.egress import services
from console.egress.forms import EgressTargetForm
from monitoring.egress.models import EgressTarget
from monitoring.egress.url_checks import setting_targets


@require_http_methods(["GET", "HEAD", "POST"])
@requires("egress.edit")
def index(request: UserRequest) -> HttpResponse:
    """List and add. The query fills in the form (services.query_to_allow)."""
    posted = request.POST if request.method == "POST" else None
    query = {name: request.GET.get(name, "")[:253] for name in ("host", "port", "purpose")}
    initial = {name: value for name, value in query.items() if value}
    form = EgressTargetForm(posted, initial=initial)
    if form.is_valid():
        target = form.save(commit=False)
        services.add(request.principal, target)
        messages.success(request, _("Requests may reach %(target)s now.") % {"target": target})
        return redirect("egress")
    context = {
        "form": form,
        "fixed": setting_targets(),
        "targets": EgressTarget.objects.all(),
    }
    return render(request, "egress/index.html", context, status=422 if form.errors else 200)


@require_POST
@requires("egress.edit")
def remove(request: UserRequest, target: int) -> HttpResponse:
    removed = services.remove(request.principal, target)
    if removed is None:
        raise Http404(_("There is no such target. It may have been removed."))
    text = _("Requests may not reach %(target)s any more.") % {"target": removed}
    messages.success(request, text)
    return redirect("egress")
