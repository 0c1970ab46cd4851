"""`Plan`: a proposed change to a cluster, as a database row, from the proposal to the result.

proposed → queued → applying → done | failed | refused. A plan that failed for some items is queued
again when a user resumes it; one that nobody confirms expires (expiry.py). A plan that a user stops
(stop_plan.py) is failed, and can be resumed. Each transition is one conditional UPDATE, so that a
double click, a second delivery of the task or a second worker has no effect.
"""

import uuid

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone

PROPOSED, QUEUED, APPLYING = "proposed", "queued", "applying"
DONE, FAILED, REFUSED = "done", "failed", "refused"
STATES = (PROPOSED, QUEUED, APPLYING, DONE, FAILED, REFUSED)


class Plan(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.CharField(max_length=64)  # slug
    # These three are its Proposal. If it has several targets, `resource` is a text about them.
    action = models.CharField(max_length=64)  # ActionType.action
    resource = models.CharField(max_length=300)
    params = models.JSONField()  # the exact change, made of the form
    facts = models.JSONField()  # the cluster's state when it was proposed (ActionType.read_facts)
    draft = models.JSONField()  # console.actions.draft.Draft
    # Who may read it besides its author (plan_readers.py); {} = only who sees everything.
    scope = models.JSONField(default=dict)
    # What the user typed in the form, encrypted (typed_form.py); "" = not stored, or deleted.
    typed = models.TextField(blank=True, default="", editable=False)
    state = models.CharField(
        max_length=16, default=PROPOSED, choices=[(state, state) for state in STATES]
    )
    progress = models.PositiveSmallIntegerField(default=0)  # percent
    current_step = models.CharField(max_length=200, blank=True)  # see state_texts.current_step
    # Key of each step that began (ActionType.steps) → console.actions.draft.StepState.
    step_states = models.JSONField(default=dict)
    # Key of each item that ended (ItemsAction.items) → why it failed; "" = it was applied.
    item_outcomes = models.JSONField(default=dict)
    outcome = models.TextField(blank=True)  # why it failed or was refused
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The address of the user who proposed it.
    remote_addr = models.CharField(max_length=64, blank=True)
    # Who confirmed it, as text, since the account can be deleted before the plan ends.
    confirmed_by = models.CharField(max_length=150, blank=True, default="")
    confirmed_addr = models.CharField(max_length=64, blank=True, default="")
    # Of an open plan: who wants it to be stopped. Of a failed one: who stopped it. "" = nobody.
    stopped_by = models.CharField(max_length=150, blank=True, default="")
    stopped_addr = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(db_index=True)
    # When it got its current state or last made progress; null = still proposed.
    last_progress_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.action} {self.resource}: {self.state}"

    @property
    def created_ms(self) -> int:
        return int(self.created_at.timestamp() * 1000)

    @property
    def is_open(self) -> bool:
        """Whether it is queued or being applied."""
        return self.state in (QUEUED, APPLYING)

    @property
    def was_begun(self) -> bool:
        """Whether a worker began a step since the plan was confirmed or resumed."""
        return bool(self.step_states)

    @property
    def is_stopped(self) -> bool:
        """Whether a user stopped it. There is no such state: it is failed, and says by whom."""
        return self.state == FAILED and bool(self.stopped_by)

    def is_of(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """Whether this user proposed the plan."""
        return user.pk is not None and self.created_by_id == user.pk

    @property
    def audit_outcome(self) -> str:
        """The outcome of an ended plan, one of console.audit.models.OUTCOMES."""
        return "stopped" if self.is_stopped else "ok" if self.state == DONE else self.state

    @property
    def applied_items(self) -> frozenset[str]:
        """The keys of the items that were applied."""
        return frozenset(key for key, error in self.item_outcomes.items() if not error)

    def change_state(self, state_from: str, state_to: str, **fields: object) -> bool:
        """Change the state; False if the plan was not in `state_from`."""
        changed = Plan.objects.filter(pk=self.pk, state=state_from).update(
            state=state_to, last_progress_at=timezone.now(), **fields
        )
        if changed:
            self.refresh_from_db()
        return bool(changed)
