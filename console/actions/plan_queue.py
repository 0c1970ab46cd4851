"""Sends plans to the workers of the queue `actions`."""

from celery import current_app

from console.actions.expiry import QUEUED_AGE_MAX
from console.actions.models import Plan
from monitoring.redis_client import check

# Named, not imported: the task's module imports everything that applying a plan needs.
APPLY_TASK = "console.actions.tasks.apply_plan"


def send(plan: Plan) -> None:
    """Queue the plan. Raises what Celery or Redis raises if the queue is not available."""
    check()  # detects a Redis that hangs sooner than Celery does
    expires_s = QUEUED_AGE_MAX.total_seconds()
    current_app.send_task(APPLY_TASK, (str(plan.pk),), retry=False, expires=expires_s)
