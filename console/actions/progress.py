"""Stores how far a plan came while it is applied, so that its page can show it."""

import time

from django.utils import timezone

from console.actions import models
from console.actions.action_type import ITEMS, ActionType, ApplyProgress, Stopped
from console.actions.draft import StepState
from console.actions.models import Plan
from monitoring.error_reason import dumps

SAVE_EVERY_S = 0.5  # many items may end within a second
READ_PERCENT = 10  # of the progress: reading the facts again, before the first step


class PlanProgress(ApplyProgress):
    """Stores steps and items of a plan in its row."""

    def __init__(self, plan: Plan, action_type: ActionType) -> None:
        self._plan = plan
        self._keys = [step.key for step in action_type.steps(plan.params)]
        self._saved_s = 0.0
        self.applied_items = plan.applied_items
        self.was_begun = plan.was_begun

    def start_step(self, key: str) -> None:
        """Mark a step as running and the previous one as done."""
        plan = self._plan
        plan.progress = max(_percent(self._keys.index(key), len(self._keys)), plan.progress)
        plan.current_step = key
        plan.step_states = end_running_step(plan, StepState.DONE) | {key: StepState.RUNNING}
        self.save()

    def end_item(self, key: str, error: str = "") -> None:
        plan = self._plan
        plan.item_outcomes[key] = dumps(error)
        self._advance(_percent(len(plan.item_outcomes), max(1, len(plan.facts[ITEMS]))))

    def stop_if_wanted(self, share: float) -> None:
        # Also if `end_lost` ended the plan because this worker was silent.
        if not Plan.objects.filter(pk=self._plan.pk, state=models.APPLYING, stopped_by="").exists():
            raise Stopped
        self._advance(_percent(min(1.0, share), 1))

    def _advance(self, percent: int) -> None:
        """Set how far the plan came, never less than before; store it every SAVE_EVERY_S."""
        self._plan.progress = max(self._plan.progress, percent)
        if time.monotonic() - self._saved_s >= SAVE_EVERY_S:
            self.save()

    def save(self) -> None:
        """Store the progress; `last_progress_at` says that the worker is alive."""
        plan = self._plan
        self._saved_s = time.monotonic()
        names = ("progress", "current_step", "step_states", "item_outcomes")
        fields = {name: getattr(plan, name) for name in names}
        found = Plan.objects.filter(pk=plan.pk, state=models.APPLYING)
        found.update(last_progress_at=timezone.now(), **fields)


def _percent(done: float, total: int) -> int:
    """The progress of a plan when `done` of `total` of its steps or items ended."""
    return READ_PERCENT + int((100 - READ_PERCENT) * done / total)


def end_running_step(plan: Plan, state: StepState) -> dict[str, str]:
    """The states of a plan's steps, with `state` instead of running."""
    return {
        key: state if stored == StepState.RUNNING else stored
        for key, stored in plan.step_states.items()
    }
