"""The task that carries out a confirmed plan (queue `default`)."""

from celery import shared_task

from console.actions import services


# Not acked late: a plan that was begun is never begun again, so a redelivery would do nothing.
@shared_task(name="console.actions.apply", ignore_result=True)
def apply_plan(plan_id: str) -> None:
    services.run(plan_id)
