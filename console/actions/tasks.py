"""The tasks of plans: carry one out (queue `actions`); see to those that were lost (`history`)."""

from celery import shared_task

from console.actions import services


# Not acked late: a plan that was begun is never begun again, so a redelivery would do nothing.
@shared_task(name=services.APPLY_TASK, ignore_result=True)
def apply_plan(plan_id: str) -> None:
    services.run(plan_id)


@shared_task(name="console.actions.expire_plans", ignore_result=True)
def expire_plans() -> None:
    services.expire_plans()
