"""The form of a change to the topics that were selected in the list; it makes one plan."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.accounts.decorators import requires
from console.accounts.request_types import ClusterRequest
from console.actions import registry
from console.actions.redirect_to_plan import form_data, read_only_text, redirect_to_plan
from console.topics.actions.bulk import TOPICS_MAX, ConfigureTopics, DeleteTopics, PurgeTopics
from console.topics.bulk_plans import propose_bulk
from console.topics.forms import SelectionForm
from console.topics.topic_list import selected_names

ACTIONS = (ConfigureTopics.action, PurgeTopics.action, DeleteTopics.action)


@require_http_methods(["GET", "HEAD", "POST"])
@requires("topic.configure")
def change_selection(request: ClusterRequest, cluster: str) -> HttpResponse:
    """The list of topics posts the selected names, which shows the form. The POST of the form has
    `plan`, and makes the plan. A GET opens the form of a plan again."""
    sent = form_data(request) or QueryDict()
    action = sent.get("action", "")
    names = selected_names(request.cluster, request.rights, sent)
    context: dict[str, Any] = {
        "topic": "",
        "action": action,
        "names": names,
        "title": _("Change topics"),
    }
    if reason := _refusal_reason(request, action, names):
        return render(request, "topics/selection.html", {**context, "reason": reason}, status=422)
    form = SelectionForm(sent if "plan" in sent else None, action)
    context |= {"title": registry.find(action).title(""), "form": form}

    def form_page(status: int) -> HttpResponse:
        return render(request, "topics/selection.html", context, status=status)

    if form.is_valid():
        return redirect_to_plan(
            request,
            form,
            lambda: propose_bulk(request.principal, request.cluster, action, names, form.configs()),
            form_page,
        )
    return form_page(422 if form.is_bound else 200)


def _refusal_reason(request: ClusterRequest, action: str, names: list[str]) -> str:
    """Why these topics cannot be changed, or ""."""
    if request.cluster.read_only:
        return read_only_text()
    if action not in ACTIONS:
        return _("Choose what to do with the topics.")
    if not names:
        return _("Select at least one topic in the list.")
    if len(names) > TOPICS_MAX:
        text = _("%(selected)d topics are selected. Select at most %(n)d topics.")
        return text % {"selected": len(names), "n": TOPICS_MAX}
    verb = registry.find(action).verb
    if not all(request.rights.may(verb, name) for name in names):
        return _("Your role does not include this change for all of these topics.")
    return ""
