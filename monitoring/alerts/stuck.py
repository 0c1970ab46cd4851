"""Which messages wait for us, and which for somebody else's webhook."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from monitoring.alerts.models import AlertDelivery

# Each rule's turn comes within this, with up to as many silent webhooks as there are threads.
OVERDUE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Waiting:
    """stuck: messages that are due and that no worker has tried to send; since_ms: for how long.

    unanswered: webhooks of rules whose last message failed and is tried again.
    """

    stuck: int = 0
    since_ms: int | None = None
    unanswered: int = 0


def waiting() -> Waiting:
    """How the messages stand now."""
    pending = AlertDelivery.objects.filter(state=AlertDelivery.State.PENDING).order_by()
    limit = timezone.now() - OVERDUE
    tried = AlertDelivery.objects.filter(attempted_at__gt=limit).order_by().values("rule_id")
    due = pending.filter(next_attempt_at__lte=limit).exclude(rule_id__in=tried)
    oldest = due.order_by("next_attempt_at").values_list("next_attempt_at", flat=True).first()
    failed = pending.filter(attempts__gt=0).exclude(error="")
    return Waiting(
        stuck=due.count() if oldest else 0,
        since_ms=int(oldest.timestamp() * 1000) if oldest else None,
        unanswered=failed.values("rule_id").distinct().count(),
    )
