"""The end of a plan: its state, and its audit entry. Each plan that ended has one."""

from typing import Any

from django.db import transaction

from console.actions import models, registry
from console.actions.draft import StepState
from console.actions.models import Plan
from console.actions.progress import end_running_step
from console.audit import write_entry as audit
from monitoring.error_reason import Reason, dumps


@transaction.atomic
def finish(
    plan: Plan,
    state_from: str,
    state: str,
    outcome: str,
    step_state: StepState = StepState.FAILED,
    **fields: str,
) -> None:
    """End a plan, and its running step with `step_state`; write the audit entry.

    Does nothing if the plan is not in `state_from`. `fields` are further columns of the plan.
    """
    step_states = end_running_step(plan, step_state)
    fields_to_set: dict[str, Any] = {
        "step_states": step_states,
        "stopped_by": "",  # whoever wanted the stop was too late; finish_stopped sets it again
        **fields,
    }
    if state == models.DONE:
        fields_to_set |= {"progress": 100, "typed": ""}
    if not plan.change_state(state_from, state, outcome=dumps(outcome), **fields_to_set):
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
        detail=dumps(_detail(plan, outcome or _result_or_undo_text(plan))),
        actor_name=plan.confirmed_by,
        plan=plan.pk,
    )


def finish_stopped(plan: Plan, state_from: str) -> None:
    """End a plan that a user stopped, with what it had done."""
    plan.refresh_from_db(fields=["stopped_by", "stopped_addr"])
    done_so_far = registry.find(plan.action).stopped_text(plan)
    address = plan.stopped_addr or "—"
    outcome = Reason("plan_stopped", who=plan.stopped_by, address=address, how=done_so_far)
    finish(plan, state_from, models.FAILED, outcome, stopped_by=plan.stopped_by)


def _detail(plan: Plan, result: str) -> str:
    """The result, who confirmed the plan, and from which addresses it was planned and confirmed."""
    if not plan.confirmed_by:
        return result
    confirmed = Reason(
        "plan_confirmed",
        planned=plan.remote_addr or "—",
        who=plan.confirmed_by,
        confirmed=plan.confirmed_addr or "—",
    )
    return Reason("plan_ended", how=result, confirmed=confirmed) if result else confirmed


def _result_or_undo_text(plan: Plan) -> str:
    """What a plan did, or how to undo it; "" if it has neither."""
    if text := registry.find(plan.action).result_text(plan):
        return text
    undo = plan.draft["undo"]
    return Reason("plan_undo", how=undo) if undo else ""
