"""The targets that outgoing requests may reach besides public addresses: add, remove, audit."""

from typing import Any
from urllib.parse import urlencode

from django.db import transaction

from console.accounts.principal import Principal
from console.audit import write_entry as audit
from monitoring.egress.models import TARGETS_MAX, EgressTarget
from monitoring.error_reason import Reason


def is_full() -> bool:
    return EgressTarget.objects.count() >= TARGETS_MAX


def add(principal: Principal, target: EgressTarget) -> None:
    """Save and audit a new, valid target."""
    target.created_by = principal.user.get_username()
    with transaction.atomic():
        target.save()
        fields = _audit_fields(target)
        audit.record_by(principal, "egress.add", resource=str(target), after=fields)


def remove(principal: Principal, target_id: int) -> EgressTarget | None:
    """Remove a target; None if there is none."""
    with transaction.atomic():
        target = EgressTarget.objects.select_for_update().filter(pk=target_id).first()
        if target is not None:
            fields = _audit_fields(target)
            audit.record_by(principal, "egress.remove", resource=str(target), before=fields)
            target.delete()
    return target


def query_to_allow(reason: str) -> str:
    """The query string with which the egress page fills in its form to allow a webhook's target.

    `reason`: why the webhook was refused. Empty if no entry on that page would allow it.
    """
    if not isinstance(reason, Reason) or reason.code != "address_not_public":
        return ""
    names = ("host", "port")
    values = {name: reason.params[name] for name in names if name in reason.params}
    return urlencode(values | {"purpose": EgressTarget.Purpose.WEBHOOK.value})


def _audit_fields(target: EgressTarget) -> dict[str, Any]:
    names = ("host", "port", "purpose", "note")
    return {name: getattr(target, name) for name in names}
