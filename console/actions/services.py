"""plan → review → apply: `propose` makes a plan, `confirm` queues it, `run` applies it.

Views and tasks call these functions. The task is queued by its name (console/actions/tasks.py).
A user stops a plan by stops.py. Each ended plan (done, failed, stopped, refused) has one audit row.
`end_lost_plans` ends plans whose worker or task message was lost.
"""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import may, rights_of
from console.actions import expiry, models, registry, texts
from console.actions.action_type import ITEMS, ActionType, ItemsAction, Stopped, Unfinished
from console.actions.draft import (
    Facts,
    PlanAlreadyConfirmed,
    PlanRefused,
    Proposal,
    StepState,
    fingerprint,
)
from console.actions.models import Plan
from console.actions.progress import PlanProgress, end_running_step
from console.audit import services as audit
from console.live import snapshot_cache
from monitoring.clock import now_ms
from monitoring.gateway.errors import GatewayError
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.reasons import Reason, dumps
from monitoring.redis_client import check

APPLY_TASK = "console.actions.tasks.apply_plan"
# A key in the facts of every plan, so that it is not applied to another cluster.
CLUSTER_ID = "cluster_id"

log = logging.getLogger(__name__)


def propose(
    principal: Principal,
    cluster: Cluster,
    action: str,
    resource: str,
    params: Mapping[str, Any],
) -> Plan:
    """Read the facts and store a plan for review; changes nothing in the cluster.

    Raises PlanRefused if the change is not possible or not allowed, and GatewayError if the
    cluster cannot be read.
    """
    _check_allowed(principal.user, cluster, action, resource, params)
    action_type = registry.find(action)
    with for_cluster(cluster) as gateway:
        facts = {CLUSTER_ID: gateway.wire.cluster_id(), **action_type.read(gateway, params)}
    rights = principal.rights(cluster)
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    draft = action_type.draft(action_type.within_scope(facts, rights.scope), params, snapshot)
    return Plan.objects.create(
        cluster=cluster.slug,
        action=action,
        resource=resource,
        params=dict(params),
        facts=facts,
        draft=draft.as_json(),
        created_by=principal.user,
        remote_addr=principal.address,
        created_at=timezone.now(),
    )


def undo_of(plan: Plan, principal: Principal, cluster: Cluster) -> Proposal | None:
    """The change that undoes a plan, if there is one and the user may propose it."""
    changed = plan.state == models.DONE or (plan.state == models.FAILED and plan.applied_items)
    proposal = registry.find(plan.action).undo(plan) if changed else None
    if proposal is None:
        return None
    try:
        _check_allowed(principal.user, cluster, proposal.action, proposal.resource, proposal.params)
    except PlanRefused:
        return None
    return proposal


def propose_undo(plan: Plan, principal: Principal, cluster: Cluster) -> Plan:
    """Plan the undo of `plan`. Raises PlanRefused or GatewayError, like `propose`."""
    proposal = undo_of(plan, principal, cluster)
    if proposal is None:
        raise PlanRefused(
            _("This change cannot be undone, or you do not have the right to undo it.")
        )
    return propose(principal, cluster, proposal.action, proposal.resource, proposal.params)


def _check_allowed(
    user: Any, cluster: Cluster, action: str, resource: str, params: Mapping[str, Any]
) -> None:
    check_right(user, cluster, action, resource, params)
    if cluster.read_only:
        raise PlanRefused(Reason("plan_read_only"))


def check_right(
    user: Any, cluster: Cluster, action: str, resource: str, params: Mapping[str, Any]
) -> None:
    """Raises PlanRefused unless the user may make and apply such a plan."""
    action_type = registry.find(action)
    targets = action_type.targets(resource, params)
    if user is None or not all(may(user, action_type.verb, cluster, each) for each in targets):
        raise PlanRefused(Reason("plan_not_allowed"))


def find_own(principal: Principal, cluster: str, plan_id: uuid.UUID) -> Plan | None:
    """The plan if the user made it and may see its target, else None."""
    found = Plan.objects.filter(pk=plan_id, cluster=cluster, created_by=principal.user.pk).first()
    if found is None:
        return None
    action_type = registry.find(found.action)
    targets, verb = action_type.targets(found.resource, found.params), action_type.target.view_verb
    is_visible = all(principal.may(verb, cluster, each) for each in targets)
    return found if is_visible else None


def audit_attempt_on_other_plan(principal: Principal, cluster: str, plan_id: uuid.UUID) -> None:
    """Audit that a user tried to apply another user's plan."""
    plans = Plan.objects.filter(pk=plan_id, cluster=cluster)
    other = plans.exclude(created_by=principal.user.pk).first()
    if other is not None:
        audit.record(
            principal.user,
            other.action,
            cluster,
            other.resource,
            remote_addr=principal.address,
            outcome="refused",
            detail=dumps(Reason("plan_of_another")),
        )


def confirm(plan: Plan, principal: Principal, typed: str) -> None:
    """Queue the plan, once. Raises PlanRefused with the reason: an expired plan ends as refused,
    after any other error the user can try again.
    """
    user = principal.user
    if plan.created_by_id != user.pk:
        raise PlanRefused(_("This is another user's plan. Plan the change yourself."))
    if plan.state != models.PROPOSED:
        raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
    _check_allowed(user, _cluster(plan), plan.action, plan.resource, plan.params)
    confirmed: dict[str, Any] = {
        "confirmed_by": user.get_username(),
        "confirmed_addr": principal.address,
    }
    if expiry.is_expired(plan.created_ms, now_ms()):
        late = Reason("plan_too_old", minutes=expiry.minutes(expiry.PROPOSED_AGE_MAX))
        finish(plan, models.PROPOSED, models.REFUSED, late, **confirmed)
        raise PlanRefused(late)
    expected_name = plan.draft["typed_name"]
    if expected_name and typed.strip() != expected_name:
        raise PlanRefused(_("To confirm, type “%(name)s” exactly.") % {"name": expected_name})
    with transaction.atomic():
        if not plan.move(models.PROPOSED, models.QUEUED, current_step=texts.QUEUED, **confirmed):
            raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
        transaction.on_commit(lambda: _queue_or_fail(plan))


def can_resume(plan: Plan) -> bool:
    """Whether some items of a plan that failed are not applied yet."""
    return plan.state == models.FAILED and len(plan.applied_items) < _item_count(plan)


def _item_count(plan: Plan) -> int:
    is_of_items = isinstance(registry.find(plan.action), ItemsAction)
    return len(plan.facts.get(ITEMS, ())) if is_of_items else 0


def resume(plan: Plan, principal: Principal) -> None:
    """Queue a failed plan again, for the items that are not applied. Raises PlanRefused."""
    if plan.state in (models.QUEUED, models.APPLYING):
        raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
    if not can_resume(plan):
        raise PlanRefused(_("Nothing of this plan is left to apply."))
    _check_allowed(principal.user, _cluster(plan), plan.action, plan.resource, plan.params)
    confirmed: dict[str, Any] = {
        "confirmed_by": principal.user.get_username(),
        "confirmed_addr": principal.address,
        "item_outcomes": dict.fromkeys(plan.applied_items, ""),
        "step_states": {},
        "outcome": "",
        "stopped_by": "",
    }
    with transaction.atomic():
        if not plan.move(models.FAILED, models.QUEUED, current_step=texts.QUEUED, **confirmed):
            raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
        transaction.on_commit(lambda: _queue_or_fail(plan))


def _queue_or_fail(plan: Plan) -> None:
    """Queue the plan; if the queue is unavailable, the plan fails."""
    try:
        _send_task(plan)
    except Exception:
        log.exception("plan %s could not be queued", plan.pk)
        reason = Reason("plan_not_queued")
        finish(plan, models.QUEUED, models.FAILED, reason)


def _send_task(plan: Plan) -> None:
    check()  # detects a Redis that hangs sooner than Celery does
    expires_s = expiry.QUEUED_AGE_MAX.total_seconds()
    current_app.send_task(APPLY_TASK, (str(plan.pk),), retry=False, expires=expires_s)


def _cluster(plan: Plan) -> Cluster:
    cluster = Cluster.objects.filter(slug=plan.cluster).first()
    if cluster is None:
        raise PlanRefused(Reason("plan_cluster_removed"))
    return cluster


def run(plan_id: str) -> None:
    """Apply a queued plan. Called by the task; a second call does nothing."""
    plan = Plan.objects.select_related("created_by").get(pk=plan_id)
    fields = {} if plan.step_states else {"progress": 5, "current_step": texts.READING}
    if not plan.move(models.QUEUED, models.APPLYING, **fields):
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
        # A plan that goes on is continued by `end_lost_plans` when the cluster may answer again.
        if not (error.retriable and _continues_without_worker(plan)):
            finish(plan, models.APPLYING, models.FAILED, error.message)
    except Exception as error:
        log.exception("plan %s failed", plan.pk)
        reason = Reason("plan_error", name=type(error).__name__)
        finish(plan, models.APPLYING, models.FAILED, reason)
    else:
        finish(plan, models.APPLYING, models.DONE, "", StepState.DONE)


def _apply(plan: Plan) -> None:
    cluster = _cluster(plan)
    _check_allowed(plan.created_by, cluster, plan.action, plan.resource, plan.params)
    action_type = registry.find(plan.action)
    with for_cluster(cluster) as gateway:
        cluster_id = gateway.wire.cluster_id()
        if cluster_id != plan.facts.get(CLUSTER_ID):
            raise PlanRefused(Reason("plan_other_cluster"))
        progress = PlanProgress(plan, action_type)
        if not progress.is_continued:
            _check_unchanged(plan, action_type, cluster, action_type.read(gateway, plan.params))
        try:
            action_type.apply(gateway, plan.params, progress)
        finally:
            progress.save()
    failed = len(plan.item_outcomes) - len(plan.applied_items)
    if failed:
        total = len(plan.facts[ITEMS])
        raise GatewayError(Reason("plan_items_failed", failed=failed, total=total))


def _check_unchanged(plan: Plan, action_type: ActionType, cluster: Cluster, read: Facts) -> None:
    """Raises PlanRefused if the cluster changed since the review."""
    facts = {CLUSTER_ID: plan.facts[CLUSTER_ID], **read}
    if _compared(plan, action_type, facts) != _compared(plan, action_type, plan.facts):
        changed = " ".join(_differences(plan, action_type, cluster, facts))
        raise PlanRefused(Reason("plan_facts_changed", changed=changed))


def _continues_without_worker(plan: Plan) -> bool:
    """Whether the change was started and goes on in the cluster without a worker."""
    return bool(plan.step_states) and registry.find(plan.action).continues_without_worker


def _queue_again(plan: Plan, state_from: str) -> None:
    """Queue a plan again whose change goes on; if that fails, `end_lost_plans` does it."""
    if plan.move(state_from, models.QUEUED):
        try:
            _send_task(plan)
        except Exception:
            log.exception("plan %s could not be queued again", plan.pk)


def _compared(plan: Plan, action_type: ActionType, facts: Facts) -> str:
    """The fingerprint of the facts that must not have changed; not of items that were applied."""
    return fingerprint(action_type.compared(_without_applied(plan, facts)))


def _without_applied(plan: Plan, facts: Facts) -> Facts:
    if not plan.applied_items:
        return facts
    items = {key: item for key, item in facts[ITEMS].items() if key not in plan.applied_items}
    return {**facts, ITEMS: items}


def _differences(plan: Plan, action_type: ActionType, cluster: Cluster, facts: Facts) -> list[str]:
    """The differences since the review, without names that the user may not see."""
    scope = rights_of(plan.created_by or AnonymousUser(), cluster).scope
    both = (_without_applied(plan, found) for found in (plan.facts, facts))
    then, now = (action_type.within_scope(found, scope) for found in both)
    return action_type.describe(then, now)


@transaction.atomic
def finish(
    plan: Plan,
    state_from: str,
    state: str,
    outcome: str,
    step_state: StepState = StepState.FAILED,
    **fields: str,
) -> None:
    """End a plan, and its current step with `step_state`; write the audit entry."""
    fields_to_set: dict[str, Any] = {
        "step_states": end_running_step(plan, step_state), "stopped_by": "", **fields,
    }  # fmt: skip
    if state == models.DONE:
        fields_to_set["progress"] = 100
    if not plan.move(state_from, state, outcome=dumps(outcome), **fields_to_set):
        return
    audit.record(
        plan.created_by,
        plan.action,
        plan.cluster,
        plan.resource,
        before=plan.draft.get("before"),
        after=plan.draft.get("after"),
        remote_addr=plan.confirmed_addr or plan.remote_addr,
        outcome=plan.audit_outcome,
        detail=dumps(_detail(plan, outcome or _result_text(plan))),
        actor_name=plan.confirmed_by,
    )


def finish_stopped(plan: Plan, state_from: str) -> None:
    """End a plan that a user stopped, with what it had done."""
    plan.refresh_from_db(fields=["stopped_by", "stopped_addr"])
    how = registry.find(plan.action).stopped(plan)
    address = plan.stopped_addr or "—"
    outcome = Reason("plan_stopped", who=plan.stopped_by, address=address, how=how)
    finish(plan, state_from, models.FAILED, outcome, stopped_by=plan.stopped_by)


def _detail(plan: Plan, how: str) -> str:
    """The outcome, the user who confirmed the plan, and the addresses."""
    if not plan.confirmed_by:
        return how
    confirmed = Reason(
        "plan_confirmed",
        planned=plan.remote_addr or "—",
        who=plan.confirmed_by,
        confirmed=plan.confirmed_addr or "—",
    )
    return Reason("plan_ended", how=how, confirmed=confirmed) if how else confirmed


def _result_text(plan: Plan) -> str:
    """What a plan did, or how to undo it; empty if that is not possible."""
    if result := registry.find(plan.action).result(plan):
        return result
    undo = plan.draft["undo"]
    return Reason("plan_undo", how=undo) if undo else ""


def end_lost_plans() -> None:
    """End plans whose worker was lost, or continue them; delete old plans."""
    now = timezone.now()
    for plan in Plan.objects.filter(state=models.QUEUED, moved_at__lt=now - expiry.QUEUED_AGE_MAX):
        if _continues_without_worker(plan):
            _queue_again(plan, models.QUEUED)
        else:
            reason = Reason("plan_no_worker", minutes=expiry.minutes(expiry.QUEUED_AGE_MAX))
            finish(plan, models.QUEUED, models.FAILED, reason)
    silent_since = now - expiry.WORKER_SILENT_MAX
    for plan in Plan.objects.filter(state=models.APPLYING, moved_at__lt=silent_since):
        if _continues_without_worker(plan):
            _queue_again(plan, models.APPLYING)
        else:
            reason = Reason("plan_worker_silent")
            finish(plan, models.APPLYING, models.FAILED, reason, StepState.UNKNOWN)
    old = Plan.objects.filter(created_at__lt=now - expiry.PLANS_KEPT)
    old.exclude(state__in=[models.QUEUED, models.APPLYING]).delete()
