"""Counts undelivered alert messages: those that no worker sends, and rules whose webhook fails."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from monitoring.alerts.models import AlertDelivery

# Within this time a message of each rule is tried, even if webhooks block all threads.
OVERDUE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Backlog:
    """Undelivered messages."""

    overdue: int = 0  # due for OVERDUE, and no worker tried a message of the rule meanwhile
    since_ms: int | None = None  # when the oldest of these was due
    failing_rules: int = 0  # rules with a message that failed and will be tried again


def backlog() -> Backlog:
    """The current backlog."""
    waiting = AlertDelivery.objects.filter(state=AlertDelivery.State.WAITING).order_by()
    limit = timezone.now() - OVERDUE
    tried_rules = AlertDelivery.objects.filter(attempted_at__gt=limit).order_by().values("rule_id")
    overdue = waiting.filter(next_attempt_at__lte=limit).exclude(rule_id__in=tried_rules)
    oldest = overdue.order_by("next_attempt_at").values_list("next_attempt_at", flat=True).first()
    failed = waiting.filter(attempts__gt=0).exclude(error="")
    return Backlog(
        overdue=overdue.count() if oldest else 0,
        since_ms=int(oldest.timestamp() * 1000) if oldest else None,
        failing_rules=failed.values("rule_id").distinct().count(),
    )
