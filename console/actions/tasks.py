"""The Celery tasks of plans: apply a plan (queue `actions`), end lost plans (queue `history`)."""

from celery import shared_task

from console.actions.plan_worker import apply_queued, end_lost


# Acknowledged early: a plan is never started twice, so a redelivery would do nothing.
@shared_task
def apply_plan(plan_id: str) -> None:
    apply_queued(plan_id)


@shared_task
def end_lost_plans() -> None:
    end_lost()
