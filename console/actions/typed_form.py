"""What a user typed in the form of a plan, so that the form can be opened with it again.

It is stored with the plan as JSON: the path of the form, and its POST data as name → values,
without passwords and files. It is encrypted, since backups of the database have it, too. If the key
is lost, the form opens empty.
"""

import json
import logging
import uuid
from datetime import datetime

from django import forms
from django.utils.datastructures import MultiValueDict

from console.accounts.principal import Principal
from console.actions import registry, services
from console.actions.models import Plan
from monitoring.encryption import SecretUnreadable, decrypt, encrypt

PARAM = "again"  # the query parameter of the form: the id of a plan
BYTES_MAX = 1 << 20  # larger forms are not stored

log = logging.getLogger(__name__)


def store(plan: Plan, path: str, form: forms.Form, posted: MultiValueDict[str, str]) -> None:
    """Store what was posted to the form at `path` with its plan."""
    left_out = {"csrfmiddlewaretoken"} | {
        form.add_prefix(name)
        for name, field in form.fields.items()
        if isinstance(field.widget, forms.PasswordInput)
    }
    data = {name: values for name, values in posted.lists() if name not in left_out}
    text = json.dumps({"path": path, "data": data})
    if not data or len(text) > BYTES_MAX:
        return
    try:
        plan.typed = encrypt(text)
    except SecretUnreadable:
        log.exception("the form of plan %s could not be encrypted", plan.pk)
    else:
        plan.save(update_fields=["typed"])


def find(principal: Principal, path: str, plan_id: str) -> MultiValueDict[str, str] | None:
    """What this user typed for the plan in the form at `path`; None if there is nothing."""
    try:
        plan = Plan.objects.filter(pk=uuid.UUID(plan_id)).first()
    except ValueError:
        return None
    # The plan's cluster, not that of the form: a copy to another cluster is planned in a form of
    # the source's.
    if plan is None or services.find_own(principal, plan.cluster, plan.pk) is None:
        return None
    form_path, typed = _stored(plan)
    if form_path != path:
        return None
    data: MultiValueDict[str, str] = MultiValueDict()
    for name, values in typed.items():
        data.setlist(name, values)
    return data


def again_url(plan: Plan) -> str:
    """The URL of the form to plan the change of a plan again: with what was typed, if stored."""
    form_path, _typed = _stored(plan)
    if form_path:
        return f"{form_path}?{PARAM}={plan.pk}"
    return registry.find(plan.action).form_url(plan)


def delete_old(now: datetime) -> None:
    """Delete what was typed longer ago than the action type keeps it (`typed_kept`)."""
    types = [registry.find(action) for action in registry.actions()]
    for kept in {each.typed_kept for each in types}:
        actions = [each.action for each in types if each.typed_kept == kept]
        old = Plan.objects.filter(action__in=actions, created_at__lt=now - kept)
        old.exclude(typed="").update(typed="")


def _stored(plan: Plan) -> tuple[str, dict[str, list[str]]]:
    """The path of the form and its data; ("", {}) if nothing is stored, or it is unreadable."""
    try:
        stored = json.loads(decrypt(plan.typed)) if plan.typed else {}
    except SecretUnreadable:
        stored = {}
    return stored.get("path", ""), stored.get("data", {})
