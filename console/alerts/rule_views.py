"""The pages of alert rules: list, add, edit, enable or disable, test, delete."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.alerts import services
from console.alerts.forms import RuleForm
from console.live.page_renderer import LivePart, render_live
from monitoring.models import AlertRule


@require_safe
@requires("alert.view")
def index(request: ClusterRequest, cluster: str) -> HttpResponse:
    return render_live(request, "alerts/rules.html", LivePart(request, "rules"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires("alert.edit")
def add(request: ClusterRequest, cluster: str) -> HttpResponse:
    if AlertRule.objects.filter(cluster=request.cluster).count() >= services.RULES_MAX:
        messages.error(request, _("A cluster has at most %(n)d rules.") % {"n": services.RULES_MAX})
        return redirect("alert-rules", cluster)
    group = request.GET.get("group", "")[:255]
    return _form(request, AlertRule(cluster=request.cluster, group_pattern=group))


@require_http_methods(["GET", "HEAD", "POST"])
@requires("alert.edit")
def edit(request: ClusterRequest, cluster: str, rule: int) -> HttpResponse:
    return _form(request, _rule(request, rule))


def _form(request: ClusterRequest, rule: AlertRule) -> HttpResponse:
    before = services.audit_fields(rule) if rule.pk else {}
    posted = request.POST if request.method == "POST" else None
    form = RuleForm(posted, instance=rule, user=request.user, rights=request.rights)
    if request.method == "POST" and form.is_valid():
        saved = services.save(request.principal, form, before)
        messages.success(request, _("The rule “%(name)s” was saved.") % {"name": saved.name})
        return redirect("alert-rules", request.cluster.slug)
    context = {"form": form, "rule": rule, "is_new": rule.pk is None, "name": before.get("name")}
    status = 422 if request.method == "POST" else 200
    return render(request, "alerts/rule.html", context, status=status)


@require_POST
@requires("alert.edit")
def switch(request: ClusterRequest, cluster: str, rule: int) -> HttpResponse:
    """Enable or disable a rule."""
    found = _rule(request, rule)
    services.switch(request.principal, found, enabled=request.POST.get("enabled") == "1")
    return redirect("alert-rules", cluster)


@require_POST
@requires("alert.edit")
def test(request: ClusterRequest, cluster: str, rule: int) -> HttpResponse:
    found = _rule(request, rule)
    if not found.webhook_url:
        messages.error(request, _("This rule has no webhook to test."))
    elif services.send_test(request.principal, found):
        messages.success(request, _("The test message is queued. Its result appears below."))
        return redirect("alert-deliveries", cluster)
    else:
        messages.error(request, _("Too many tests. Wait a minute and test again."))
    return redirect("alert-rule", cluster, found.pk)


@require_POST
@requires("alert.edit")
def delete(request: ClusterRequest, cluster: str, rule: int) -> HttpResponse:
    found = _rule(request, rule)
    if request.POST.get("typed", "") != found.name:
        messages.error(request, _("Type the rule's name to delete it."))
        return redirect("alert-rule", cluster, found.pk)
    if not services.delete(request.principal, found):
        messages.error(
            request,
            _(
                "This rule has firing alerts. Disable it first, so that they resolve and the "
                "webhook is notified. Then delete it."
            ),
        )
        return redirect("alert-rule", cluster, found.pk)
    messages.success(request, _("The rule “%(name)s” was deleted.") % {"name": found.name})
    return redirect("alert-rules", cluster)


def _rule(request: ClusterRequest, rule_id: int) -> AlertRule:
    """The rule. Raises Http404 if it does not exist or the user may not see it."""
    rule = services.find_rule(request.cluster, request.rights, rule_id)
    if rule is None:
        raise Http404(_("There is no such rule."))
    return rule
