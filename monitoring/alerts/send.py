"""Hands deliveries to the queue `deliveries`, each to one worker at a time.

What was handed over is marked in its row, so nobody does it again. The mark holds until the attempt
is over, and LOST_AFTER at most: by then the message has expired, or its worker has died.

Of one rule only AT_ONCE are with the workers, and the next follows when one is done: however many
messages a webhook that does not answer is owed, it holds that many threads and no more.
"""

import logging
from datetime import datetime, timedelta

from celery import current_app
from django.db.models import Q, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from monitoring.alerts.models import AlertDelivery
from monitoring.queues import QUEUES

log = logging.getLogger(__name__)
AT_ONCE = 2
_EXPIRES_S = QUEUES["deliveries"].expires_s
LOST_AFTER = timedelta(seconds=_EXPIRES_S or 0)


def enqueue(delivery_id: int) -> bool:
    """Ask a worker to send it now; False where it is not due, with a worker, or has to wait.

    What has to wait follows by itself: when its rule has room, or at the next sweep.
    """
    now = timezone.now()
    found = AlertDelivery.objects.filter(pk=delivery_id).values_list("rule_id", flat=True)
    rule_id = found.first()
    if rule_id is None or _with_workers(rule_id, now) >= AT_ONCE:
        return False
    if not _free(now).filter(pk=delivery_id).update(queued_at=now):
        return False
    try:
        current_app.send_task(
            "monitoring.alerts.tasks.deliver", (delivery_id,), expires=_EXPIRES_S, retry=False
        )
    except OperationalError as error:
        log.warning("delivery %d waits for the next sweep: %s", delivery_id, error)
        AlertDelivery.objects.filter(pk=delivery_id, queued_at=now).update(queued_at=None)
        return False
    return True


def enqueue_due(rule_id: int) -> None:
    """Hand over what the rule owes, the oldest first, as far as there is room."""
    oldest = _free(timezone.now()).filter(rule_id=rule_id).order_by("next_attempt_at", "pk")
    for delivery_id in list(oldest.values_list("pk", flat=True)[:AT_ONCE]):
        enqueue(delivery_id)


def rules_that_owe() -> list[int]:
    """The rules that have messages to hand over now."""
    owed = _free(timezone.now()).order_by()
    return list(owed.values_list("rule_id", flat=True).distinct())


def _with_workers(rule_id: int, now: datetime) -> int:
    pending = AlertDelivery.objects.filter(rule_id=rule_id, state=AlertDelivery.State.PENDING)
    return pending.filter(queued_at__gt=now - LOST_AFTER).count()


def _free(now: datetime) -> QuerySet[AlertDelivery]:
    """What is due and with no worker."""
    return AlertDelivery.objects.filter(
        Q(queued_at=None) | Q(queued_at__lte=now - LOST_AFTER),
        state=AlertDelivery.State.PENDING,
        next_attempt_at__lte=now,
    )
