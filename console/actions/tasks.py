"""The Celery tasks of plans: apply a plan (queue `actions`), end lost plans and delete old ones
(queue `history`)."""

from celery import shared_task

from console.actions import plan_worker


# Acknowledged early: a redelivery would do nothing, since the plan is not `queued` any more. A plan
# that is queued again (action_type.Unfinished) gets a new task.
@shared_task
def apply_plan(plan_id: str) -> None:
    plan_worker.apply_queued(plan_id)


@shared_task
def end_lost_plans() -> None:
    plan_worker.end_lost()
    plan_worker.delete_old()
