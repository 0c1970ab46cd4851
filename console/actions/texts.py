"""Texts for the states of plans. The database stores codes, since pages are translated."""

from django.utils.translation import gettext as _

from console.actions import registry
from console.actions.draft import StepState
from console.actions.models import Plan
from console.ui.texts import sentence
from monitoring.reasons import loads

QUEUED, READING = "queued", "reading"  # before the first step


def stage(plan: Plan) -> str:
    """The title of the current step, or of the time before the first one."""
    titles = {
        QUEUED: _("Waiting for a worker"),
        READING: _("Checking for changes since the review"),
    }
    titles |= {step.key: step.title for step in registry.find(plan.kind).steps(plan.params)}
    return titles.get(plan.stage, plan.stage)


def outcome(plan: Plan) -> str:
    """Why a plan was refused or failed."""
    return sentence(loads(plan.outcome))


def step_state(state: StepState) -> str:
    return {
        StepState.WAITING: _("not started"),
        StepState.RUNNING: _("running"),
        StepState.DONE: _("done"),
        StepState.FAILED: _("failed"),
        StepState.UNKNOWN: _("unknown"),
    }[state]
