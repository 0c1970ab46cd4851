"""What users do with plans: propose, find, confirm, resume, undo. Stopping one is in stop_plan.py.

A worker applies a confirmed plan (plan_worker.py).
"""

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from console.accounts.principal import Principal
from console.accounts.rights import may
from console.actions import expiry, models, plan_queue, registry, state_texts
from console.actions.action_type import ITEMS, ItemsAction
from console.actions.draft import PlanAlreadyConfirmed, PlanRefused, Proposal
from console.actions.finish_plan import finish
from console.actions.models import Plan
from console.actions.plan_readers import may_read, scope_to_store, shows_targets
from console.audit import write_entry as audit
from console.live import snapshot_cache
from monitoring.clock import now_ms
from monitoring.error_reason import Reason, dumps
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster

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
    check_allowed(principal.user, cluster, action, resource, params)
    action_type = registry.find(action)
    with for_cluster(cluster) as gateway:
        facts = {CLUSTER_ID: gateway.wire.cluster_id(), **action_type.read_facts(gateway, params)}
    rights = principal.rights(cluster)
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    draft = action_type.draft(action_type.within_scope(facts, rights.scope), params, snapshot)
    contents = draft.as_json()
    return Plan.objects.create(
        cluster=cluster.slug,
        action=action,
        resource=resource,
        params=dict(params),
        facts=facts,
        draft=contents,
        # Who else may read it.
        scope=scope_to_store(rights.scope, (params, facts, contents)),
        created_by=principal.user,
        remote_addr=principal.address,
        created_at=timezone.now(),
    )


def check_allowed(
    user: Any, cluster: Cluster, action: str, resource: str, params: Mapping[str, Any]
) -> None:
    """Raises PlanRefused if a right is missing, or the cluster is read-only."""
    check_right(user, cluster, action, resource, params)
    if cluster.read_only:
        raise PlanRefused(Reason("plan_read_only"))


def check_right(
    user: Any, cluster: Cluster, action: str, resource: str, params: Mapping[str, Any]
) -> None:
    """Raises PlanRefused unless the user has the right to change each target."""
    action_type = registry.find(action)
    targets = action_type.targets(resource, params)
    if user is None or not all(may(user, action_type.verb, cluster, each) for each in targets):
        raise PlanRefused(Reason("plan_not_allowed"))


def find_own(principal: Principal, cluster: str, plan_id: uuid.UUID) -> Plan | None:
    """The plan, if the user made it and may see its target."""
    found = find_visible(principal, cluster, plan_id)
    return found if found and found.is_of(principal.user) else None


def find_visible(principal: Principal, cluster: str, plan_id: uuid.UUID) -> Plan | None:
    """The plan, if the user made it and may see its targets, or may read it (plan_readers.py)."""
    found = Plan.objects.filter(pk=plan_id, cluster=cluster).first()
    if found is None:
        return None
    is_visible = shows_targets if found.is_of(principal.user) else may_read
    return found if is_visible(found, principal.rights(cluster)) else None


def audit_confirm_of_other_plan(principal: Principal, cluster: str, plan_id: uuid.UUID) -> None:
    """Audit that a user tried to confirm another user's plan."""
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


def confirm(plan: Plan, principal: Principal, typed_name: str) -> None:
    """Queue the plan, once. Raises PlanRefused.

    An expired plan ends as refused. After any other error the user can try again.
    """
    user = principal.user
    if plan.created_by_id != user.pk:
        raise PlanRefused(_("This is another user's plan. Plan the change yourself."))
    if plan.state != models.PROPOSED:
        raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
    check_allowed(user, cluster_of(plan), plan.action, plan.resource, plan.params)
    confirmed: dict[str, Any] = {
        "confirmed_by": user.get_username(),
        "confirmed_addr": principal.address,
    }
    if expiry.is_expired(plan.created_ms, now_ms()):
        reason = Reason("plan_too_old", minutes=expiry.minutes(expiry.PROPOSED_AGE_MAX))
        finish(plan, models.PROPOSED, models.REFUSED, reason, **confirmed)
        raise PlanRefused(reason)
    expected_name = plan.draft["typed_name"]
    if expected_name and typed_name.strip() != expected_name:
        raise PlanRefused(_("To confirm, type “%(name)s” exactly.") % {"name": expected_name})
    with transaction.atomic():
        if not plan.change_state(
            models.PROPOSED, models.QUEUED, current_step=state_texts.WAITING_FOR_WORKER, **confirmed
        ):
            raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
        transaction.on_commit(lambda: _queue_or_fail(plan))


def cluster_of(plan: Plan) -> Cluster:
    """The plan's cluster. Raises PlanRefused if it was removed from the console."""
    cluster = Cluster.objects.filter(slug=plan.cluster).first()
    if cluster is None:
        raise PlanRefused(Reason("plan_cluster_removed"))
    return cluster


def _queue_or_fail(plan: Plan) -> None:
    """Send the plan to the workers; it fails if the queue is unavailable."""
    try:
        plan_queue.send(plan)
    except Exception:
        log.exception("plan %s could not be queued", plan.pk)
        reason = Reason("plan_not_queued")
        finish(plan, models.QUEUED, models.FAILED, reason)


def resume(plan: Plan, principal: Principal) -> None:
    """Queue a failed plan again, for the items that are not applied. Raises PlanRefused."""
    if plan.state in (models.QUEUED, models.APPLYING):
        raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
    if not can_resume(plan):
        raise PlanRefused(_("Nothing of this plan is left to apply."))
    check_allowed(principal.user, cluster_of(plan), plan.action, plan.resource, plan.params)
    fields: dict[str, Any] = {
        "current_step": state_texts.WAITING_FOR_WORKER,
        "confirmed_by": principal.user.get_username(),
        "confirmed_addr": principal.address,
        "item_outcomes": dict.fromkeys(plan.applied_items, ""),
        "step_states": {},  # so that the worker reads and compares the facts again
        "outcome": "",
        "stopped_by": "",
    }
    with transaction.atomic():
        if not plan.change_state(models.FAILED, models.QUEUED, **fields):
            raise PlanAlreadyConfirmed(_("This plan was already confirmed."))
        transaction.on_commit(lambda: _queue_or_fail(plan))


def can_resume(plan: Plan) -> bool:
    """Whether some items of a plan that failed are not applied yet."""
    return plan.state == models.FAILED and len(plan.applied_items) < _item_count(plan)


def _item_count(plan: Plan) -> int:
    has_items = isinstance(registry.find(plan.action), ItemsAction)
    return len(plan.facts.get(ITEMS, ())) if has_items else 0


def propose_undo(plan: Plan, principal: Principal, cluster: Cluster) -> Plan:
    """Propose the plan that undoes `plan`. Raises PlanRefused or GatewayError, as `propose`."""
    proposal = undo_proposal(plan, principal, cluster)
    if proposal is None:
        raise PlanRefused(
            _("This change cannot be undone, or you do not have the right to undo it.")
        )
    return propose(principal, cluster, proposal.action, proposal.resource, proposal.params)


def undo_proposal(plan: Plan, principal: Principal, cluster: Cluster) -> Proposal | None:
    """The change that undoes a plan, if there is one and the user may propose it."""
    has_changed = plan.state == models.DONE or (plan.state == models.FAILED and plan.applied_items)
    proposal = registry.find(plan.action).undo(plan) if has_changed else None
    if proposal is None:
        return None
    try:
        check_allowed(principal.user, cluster, proposal.action, proposal.resource, proposal.params)
    except PlanRefused:
        return None
    return proposal
