"""What workers do with plans: apply a queued one, end those that were lost, delete old ones."""

import logging

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from console.accounts.rights import rights_of
from console.actions import expiry, models, plan_queue, registry, services, state_texts, typed_form
from console.actions.action_type import ITEMS, ActionType, ItemsAction, Stopped, Unfinished
from console.actions.draft import Facts, PlanRefused, StepState, same_facts
from console.actions.finish_plan import finish, finish_stopped
from console.actions.models import Plan
from console.actions.progress import PlanProgress
from console.audit.models import PLANS_KEPT
from monitoring.error_reason import Reason
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster

log = logging.getLogger(__name__)
_BEGUN_PERCENT = 5  # of the progress: half of progress.READ_PERCENT


def apply_queued(plan_id: str) -> None:
    """Apply a queued plan. Called by the task; a second call does nothing."""
    plan = Plan.objects.select_related("created_by").get(pk=plan_id)
    # A plan that is continued (a step began before: `Plan.was_begun`) keeps the step and the
    # percentage on its page.
    fields = (
        {}
        if plan.was_begun
        else {"progress": _BEGUN_PERCENT, "current_step": state_texts.READING_FACTS}
    )
    if not plan.change_state(models.QUEUED, models.APPLYING, **fields):
        return
    try:
        _apply(plan)
    except Unfinished:
        _queue_again(plan, models.APPLYING)
    except Stopped:
        finish_stopped(plan, models.APPLYING)
    except PlanRefused as error:
        state = models.FAILED if plan.applied_items else models.REFUSED
        finish(plan, models.APPLYING, state, error.message)
    except GatewayError as error:
        if error.retriable and _continues_without_worker(plan):
            return  # still in the state `applying`: `end_lost` queues it again
        finish(plan, models.APPLYING, models.FAILED, error.message)
    except Exception as error:
        log.exception("plan %s failed", plan.pk)
        reason = Reason("plan_error", name=type(error).__name__)
        finish(plan, models.APPLYING, models.FAILED, reason)
    else:
        _finish_applied(plan)


def _apply(plan: Plan) -> None:
    """Check the plan again, and apply it. Raises what `apply_queued` handles."""
    cluster = services.cluster_of(plan)
    services.check_allowed(plan.created_by, cluster, plan.action, plan.resource, plan.params)
    action_type = registry.find(plan.action)
    with for_cluster(cluster) as gateway:
        cluster_id = gateway.wire.cluster_id()
        if cluster_id != plan.facts.get(services.CLUSTER_ID):
            raise PlanRefused(Reason("plan_other_cluster"))
        progress = PlanProgress(plan, action_type)
        if not progress.was_begun:
            found = action_type.read_facts(gateway, plan.params)
            facts = {services.CLUSTER_ID: cluster_id, **found}
            # For example a group that had members when it was reviewed.
            if isinstance(action_type, ItemsAction) and action_type.allows_differences(
                plan.facts, plan.params
            ):
                _replace_facts(plan, facts)
            else:
                _check_unchanged(plan, action_type, cluster, facts)
        try:
            action_type.apply(gateway, plan.params, progress)
        finally:
            progress.save()


def _finish_applied(plan: Plan) -> None:
    """End a plan whose `apply` returned: it is done, or failed if items failed."""
    failed = len(plan.item_outcomes) - len(plan.applied_items)
    if failed:
        reason = Reason("plan_items_failed", failed=failed, total=len(plan.facts[ITEMS]))
        finish(plan, models.APPLYING, models.FAILED, reason)
    else:
        finish(plan, models.APPLYING, models.DONE, outcome="", step_state=StepState.DONE)


def _replace_facts(plan: Plan, facts: Facts) -> None:
    """Store the facts as they are now: an undo restores them, and the audit log has them as
    `before`. Items that an earlier run applied keep the facts of the review."""
    applied = {key: plan.facts[ITEMS][key] for key in plan.applied_items}
    items = {**facts[ITEMS], **applied}
    plan.facts, plan.draft["before"] = {**facts, ITEMS: items}, dict(items)
    plan.save(update_fields=["facts", "draft"])


def _check_unchanged(plan: Plan, action_type: ActionType, cluster: Cluster, facts: Facts) -> None:
    """Raises PlanRefused if facts changed since the review; those of applied items may."""
    then, now = (
        action_type.compared(_without_applied(plan, found)) for found in (plan.facts, facts)
    )
    if not same_facts(then, now):
        changed = " ".join(_differences(plan, action_type, cluster, facts))
        raise PlanRefused(Reason("plan_facts_changed", changed=changed))


def _without_applied(plan: Plan, facts: Facts) -> Facts:
    """The facts without those of items that an earlier run applied."""
    if not plan.applied_items:
        return facts
    items = {key: item for key, item in facts[ITEMS].items() if key not in plan.applied_items}
    return {**facts, ITEMS: items}


def _differences(plan: Plan, action_type: ActionType, cluster: Cluster, facts: Facts) -> list[str]:
    """The differences since the review, without names that the user may not see."""
    scope = rights_of(plan.created_by or AnonymousUser(), cluster).scope
    then, now = (
        action_type.within_scope(_without_applied(plan, found), scope)
        for found in (plan.facts, facts)
    )
    return action_type.differences(then, now)


def _queue_again(plan: Plan, state_from: str) -> None:
    """Queue a plan whose change goes on in the cluster. If the queue is not available, `end_lost`
    does it later."""
    if plan.change_state(state_from, models.QUEUED):
        try:
            plan_queue.send(plan)
        except Exception:
            log.exception("plan %s could not be queued again", plan.pk)


def _continues_without_worker(plan: Plan) -> bool:
    """Whether the change was started and goes on in the cluster without a worker."""
    return plan.was_begun and registry.find(plan.action).continues_without_worker


def end_lost() -> None:
    """End plans whose task or worker was lost; queue those again that go on in the cluster."""
    now = timezone.now()
    for plan in Plan.objects.filter(
        state=models.QUEUED, last_progress_at__lt=now - expiry.QUEUED_AGE_MAX
    ):
        if _continues_without_worker(plan):
            _queue_again(plan, models.QUEUED)
        else:
            reason = Reason("plan_no_worker", minutes=expiry.minutes(expiry.QUEUED_AGE_MAX))
            finish(plan, models.QUEUED, models.FAILED, reason)
    silent_since = now - expiry.WORKER_SILENT_MAX
    for plan in Plan.objects.filter(state=models.APPLYING, last_progress_at__lt=silent_since):
        if _continues_without_worker(plan):
            _queue_again(plan, models.APPLYING)
        else:
            reason = Reason("plan_worker_silent")
            finish(plan, models.APPLYING, models.FAILED, reason, step_state=StepState.UNKNOWN)


def delete_old() -> None:
    """Delete old plans, and what was typed for others in their forms."""
    now = timezone.now()
    old = Plan.objects.filter(created_at__lt=now - PLANS_KEPT)
    old.exclude(state__in=[models.QUEUED, models.APPLYING]).delete()
    typed_form.delete_old(now)
