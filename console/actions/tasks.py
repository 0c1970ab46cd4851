"""The Celery tasks of plans: apply a plan (queue `actions`), end lost plans (queue `history`)."""

from celery import shared_task

from console.actions import services


# Acknowledged early: a plan is never started twice, so a redelivery would do nothing.
@shared_task(name=services.APPLY_TASK, ignore_result=True)
def apply_plan(plan_id: str) -> None:
    services.run(plan_id)


@shared_task(name="console.actions.end_lost_plans", ignore_result=True)
def end_lost_plans() -> None:
    services.end_lost_plans()
