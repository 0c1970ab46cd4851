"""Queues a Celery task for each delivery that is due; the task sends the message to the webhook.

`queued_at` in the delivery's row is the time at which its task was queued, so that there is only
one; the task sets it again when it begins, and to null when it has finished. After LOST_AFTER it is
ignored: a task that has not begun by then has expired, and the worker of one that has begun has
died.

Each rule has at most IN_PROGRESS_MAX tasks at a time; the next is queued when one has finished. So
a webhook that does not answer blocks at most that many threads.
"""

import logging
from datetime import datetime, timedelta

from celery import current_app
from django.db.models import Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from monitoring.alerts.models import AlertDelivery
from monitoring.background.queues import QUEUES

log = logging.getLogger(__name__)
IN_PROGRESS_MAX = 2
_EXPIRES_S = QUEUES["deliveries"].expires_s
LOST_AFTER = timedelta(seconds=_EXPIRES_S or 0)  # a task that began ends much sooner


def enqueue(delivery_id: int) -> bool:
    """Queue the delivery's task; False if it is not due, has a task already, or must wait.

    A delivery that must wait is queued when another one of its rule has finished, or by
    `tasks.enqueue_due_deliveries`.
    """
    now = timezone.now()
    rule_ids = AlertDelivery.objects.filter(pk=delivery_id).values_list("rule_id", flat=True)
    rule_id = rule_ids.first()
    if rule_id is None or _in_progress_count(rule_id, now) >= IN_PROGRESS_MAX:
        return False
    if not _due(now).filter(pk=delivery_id).update(queued_at=now):
        return False
    try:
        current_app.send_task(
            "monitoring.alerts.tasks.deliver", (delivery_id,), expires=_EXPIRES_S, retry=False
        )
    except OperationalError as error:
        log.warning("delivery %d could not be queued and is retried later: %s", delivery_id, error)
        AlertDelivery.objects.filter(pk=delivery_id, queued_at=now).update(queued_at=None)
        return False
    return True


def enqueue_of_rule(rule_id: int) -> None:
    """Queue the rule's due deliveries, the oldest first, up to IN_PROGRESS_MAX."""
    oldest = _due(timezone.now()).filter(rule_id=rule_id).order_by("next_attempt_at", "pk")
    for delivery_id in list(oldest.values_list("pk", flat=True)[:IN_PROGRESS_MAX]):
        enqueue(delivery_id)


def rules_with_due_deliveries() -> list[int]:
    """The ids of the rules with deliveries that are due."""
    due = _due(timezone.now()).order_by()
    return list(due.values_list("rule_id", flat=True).distinct())


def _in_progress_count(rule_id: int, now: datetime) -> int:
    waiting = AlertDelivery.objects.filter(rule_id=rule_id, state=AlertDelivery.State.WAITING)
    return waiting.filter(queued_at__gt=now - LOST_AFTER).count()


def _due(now: datetime) -> QuerySet[AlertDelivery]:
    """Deliveries that are due and have no task."""
    return AlertDelivery.objects.filter(
        Q(queued_at=None) | Q(queued_at__lte=now - LOST_AFTER),
        state=AlertDelivery.State.WAITING,
        next_attempt_at__lte=now,
    )
