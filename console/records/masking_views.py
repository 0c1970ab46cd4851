"""The page of a cluster's masking rules: list, add, remove."""

from django.contrib import messages as notices
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.records import masking_rules
from console.records.forms import MaskingRuleForm
from console.records.models import MaskingRule


@require_http_methods(["GET", "HEAD", "POST"])
@requires("masking.edit")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The masking rules of a cluster: list and add."""
    rule = MaskingRule(cluster=request.cluster)
    form = MaskingRuleForm(
        request.POST if request.method == "POST" else None,
        instance=rule,
        scope=request.rights.scope,
    )
    if form.is_valid():
        masking_rules.add_rule(request.principal, form.save(commit=False))
        notices.success(request, _("The masking rule for %(topics)s was added.") % {
            "topics": rule.topic_pattern
        })  # fmt: skip
        return redirect("masking", cluster=cluster)
    context = {
        "form": form,
        "rules": masking_rules.rules_in_scope(request.cluster, request.rights.scope),
    }
    return render(request, "records/masking.html", context, status=422 if form.errors else 200)


@require_POST
@requires("masking.edit")
def remove(request: ClusterRequest, cluster: str, rule_id: int) -> HttpResponse:
    if not masking_rules.remove_rule(request.principal, request.cluster, rule_id):
        raise Http404(_("There is no such masking rule. It may have been removed."))
    notices.success(request, _("The masking rule was removed."))
    return redirect("masking", cluster=cluster)
