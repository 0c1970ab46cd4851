"""Texts for the states of plans. The database stores codes, since pages are translated."""

from typing import Any

from django.utils.translation import gettext as _

from console.actions import registry
from console.actions.action_type import ItemsAction
from console.actions.draft import StepState
from console.actions.models import FAILED, REFUSED, Plan
from console.ui import numbers
from console.ui.texts import sentence
from monitoring.error_reason import Reason, loads

ITEMS_MAX = 200  # on the page of a plan
# Values of Plan.current_step before the first step.
WAITING_FOR_WORKER, READING_FACTS = "queued", "reading"


def current_step(plan: Plan) -> str:
    """The title of the current step, or of the time before the first one."""
    if plan.stopped_by:
        return _("Stopping: the write in progress is finished first")
    titles = {
        WAITING_FOR_WORKER: _("Waiting for a worker"),
        READING_FACTS: _("Checking for changes since the review"),
    }
    titles |= {step.key: step.title for step in registry.find(plan.action).steps(plan.params)}
    return titles.get(plan.current_step, plan.current_step)


def last_stage(plan: Plan) -> str:
    """The title of the last of the stages at the top of a plan's page."""
    if plan.is_stopped:
        return _("Stopped")
    return _("Not done") if plan.state in (FAILED, REFUSED) else _("Done")


def outcome(plan: Plan, *, shows_address: bool) -> str:
    """Why a plan was refused or failed; with the address of the user who stopped it, or not."""
    found = loads(plan.outcome)
    if isinstance(found, Reason) and found.code == "plan_stopped" and not shows_address:
        found = Reason("plan_stopped_by", who=found.params["who"], how=found.params["how"])
    return sentence(found)


def step_state(state: StepState) -> str:
    return {
        StepState.WAITING: _("not started"),
        StepState.RUNNING: _("running"),
        StepState.DONE: _("done"),
        StepState.FAILED: _("failed"),
        StepState.UNKNOWN: _("unknown"),
    }[state]


def items(plan: Plan) -> dict[str, Any] | None:
    """The items of a plan for its page, first what failed; None if it has no items."""
    action_type = registry.find(plan.action)
    if not isinstance(action_type, ItemsAction) or not plan.params:
        return None
    keys = action_type.items(plan.params)
    failed = [key for key in keys if plan.item_outcomes.get(key)]
    waiting = [key for key in keys if key not in plan.item_outcomes]
    rows = [(key, StepState.FAILED) for key in failed]
    if action_type.lists_items:
        rows += [(key, StepState.WAITING) for key in waiting]
        rows += [(key, StepState.DONE) for key in keys if plan.item_outcomes.get(key) == ""]
    shown = [
        (key, step_state(state), sentence(loads(plan.item_outcomes.get(key, ""))))
        for key, state in rows[:ITEMS_MAX]
    ]
    return {
        "rows": shown,
        "left_out": len(rows) - len(shown),
        "are_listed": action_type.lists_items,
        "share_done": numbers.percent(len(plan.applied_items) / len(keys)),
        "done": len(plan.applied_items),
        "total": len(keys),
        "failed": len(failed),
    }
