"""Celery tasks that deliver alert messages and delete old ones.

A task first claims the delivery's row, so that two workers never send the same message. When it has
finished, it queues the next delivery of the rule (delivery_queue.py).
"""

import time
from datetime import timedelta

from celery import shared_task
from django.db.models import F
from django.utils import timezone

from monitoring.alerts.delivery_queue import enqueue_of_rule, rules_with_due_deliveries
from monitoring.alerts.delivery_retries import wait_s
from monitoring.alerts.models import Alert, AlertDelivery
from monitoring.alerts.post_webhook import Outcome, post
from monitoring.encryption import SecretUnreadable
from monitoring.error_reason import Reason, dumps

# No other worker claims the row within this time. If the worker died, `enqueue_due_deliveries`
# queues the delivery again after delivery_queue.LOST_AFTER, which is longer.
_CLAIM_S = 60
_DELIVERIES_KEPT = timedelta(days=30)
_ALERTS_KEPT = timedelta(days=90)


@shared_task
def deliver(delivery_id: int) -> None:
    """Send one message if it is due; save the result and the time of the next attempt."""
    now = timezone.now()
    claimed = AlertDelivery.objects.filter(
        pk=delivery_id, state=AlertDelivery.State.WAITING, next_attempt_at__lte=now
    ).update(
        attempts=F("attempts") + 1,
        next_attempt_at=now + timedelta(seconds=_CLAIM_S),
        queued_at=now,
        attempted_at=now,
    )
    if not claimed:
        return
    delivery = AlertDelivery.objects.select_related("rule__cluster").get(pk=delivery_id)
    try:
        _save_outcome(delivery, _attempt(delivery))
    finally:
        enqueue_of_rule(delivery.rule_id)


@shared_task
def enqueue_due_deliveries() -> None:
    """Queue the deliveries that are due: retries, and those whose worker died."""
    for rule_id in rules_with_due_deliveries():
        enqueue_of_rule(rule_id)


@shared_task
def delete_old_alerts() -> None:
    """Delete finished messages after 30 days, and alerts 90 days after they resolved."""
    now = timezone.now()
    AlertDelivery.objects.filter(finished_at__lt=now - _DELIVERIES_KEPT).delete()
    old_ms = int((now - _ALERTS_KEPT).timestamp() * 1000)
    Alert.objects.filter(state=Alert.State.RESOLVED, resolved_at_ms__lt=old_ms).delete()


def _attempt(delivery: AlertDelivery) -> Outcome:
    try:
        url, secret = delivery.rule.decrypt_webhook()
    except SecretUnreadable as error:
        return _not_sent(error.reason)
    if not url:
        return _not_sent(Reason("webhook_removed"))
    return post(url, secret, delivery.pk, delivery.payload, int(time.time()))


def _not_sent(why: str) -> Outcome:
    return Outcome(delivered=False, retriable=False, status_code=None, error=why, took_ms=0)


def _save_outcome(delivery: AlertDelivery, outcome: Outcome) -> None:
    now = timezone.now()
    delivery.status_code = outcome.status_code
    delivery.error = dumps(outcome.error)
    delivery.took_ms = outcome.took_ms
    delivery.queued_at = None
    retry_in_s = wait_s(delivery.attempts) if outcome.retriable else None
    if outcome.delivered:
        delivery.state, delivery.finished_at = AlertDelivery.State.DELIVERED, now
    elif retry_in_s is None:
        delivery.state, delivery.finished_at = AlertDelivery.State.FAILED, now
    else:
        delivery.next_attempt_at = now + timedelta(seconds=retry_in_s)
    changed = ["status_code", "error", "took_ms", "state", "finished_at", "next_attempt_at"]
    delivery.save(update_fields=[*changed, "queued_at"])
