"""`ActionType`: the base class of changes to a cluster. Each subclass is in the app it belongs to.

The app registers an instance in `AppConfig.ready()` (console/actions/registry.py). All changes to
clusters are made by action types.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.actions.draft import Draft, Facts, Proposal, Step, StepState
from console.actions.models import Plan
from monitoring.gateway.gateway import Gateway
from monitoring.read_model.snapshot import Snapshot
from monitoring.scope import Scope

Params = Mapping[str, Any]  # the exact change, made of the form, as JSON
# In `facts`: the key of the facts of all items. In `steps`: the key of the one step that applies
# the items.
ITEMS = "items"


class Unfinished(Exception):
    """The change goes on in the cluster: the plan is queued again, and `apply` called again."""


class Stopped(Exception):
    """A user stopped the plan (console/actions/stop_plan.py)."""


class ApplyProgress(ABC):
    """Where an action reports how far it came.

    Attributes:
        applied_items: the keys of the items that earlier calls of `apply` applied.
        was_begun: an earlier call of `apply` started a step: it raised Unfinished, or its worker
            was lost.
    """

    applied_items: frozenset[str] = frozenset()
    was_begun: bool = False

    @abstractmethod
    def start_step(self, key: str) -> None:
        """A step starts."""

    @abstractmethod
    def end_item(self, key: str, error: str = "") -> None:
        """An item ended: `error` says why it failed, "" = it was applied."""

    @abstractmethod
    def stop_if_wanted(self, share: float) -> None:
        """Raises Stopped if a user wants the plan to be stopped. `share`: the part that was
        applied, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class TargetType:
    """A type of target, for example topics: the right to see one, its page, and the list of all.

    Attributes:
        page, list_page: names of URLs.
        page_link, list_link: texts of the links to them.
        heading: the title of the list.
    """

    view_verb: str
    page: str
    page_link: Promise
    list_page: str
    list_link: Promise
    heading: Promise


@dataclass(frozen=True, slots=True)
class EndedItem:
    """An item that was applied, or failed: `error` says why, "" = it was applied."""

    key: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class StopPoint:
    """A point at which a user may stop the plan. `share`: the part that was applied, 0 to 1."""

    share: float


class ActionType(ABC):
    """One type of change: how it is planned, reviewed and applied.

    Attributes:
        action: its name in plans, audit rows and filters, as `topic.create`; never changed.
        verb: the right that planning and applying need (console/accounts/rights.py).
        form_page: the name of the URL of its form.
        has_target_page: it changes one target, which has a page. The target's name is in the URL
            of the form, except if `creates`.
        creates: the target does not exist before the change.
        deletes: the target does not exist after the change.
        continues_without_worker: the change goes on in the cluster if its worker is lost. `apply`
            may raise Unfinished.
        can_stop: a user may stop it while it is applied: `apply` calls `progress.stop_if_wanted`.
        typed_kept: how long what the user typed in the form is kept, if the plan is not done.

    `services.propose` calls `targets`, `read_facts`, `within_scope` and `draft`. The worker calls
    `read_facts` again. If the facts that `compared` returns differ from those of the review, the
    plan is refused with `differences`; else the worker calls `apply`.

    In all methods `resource` is the name of the target, and `pure` means: no cluster, clock or
    database.
    """

    action: ClassVar[str]
    verb: ClassVar[str]
    target_type: ClassVar[TargetType]
    form_page: ClassVar[str]
    has_target_page: ClassVar[bool] = True
    creates: ClassVar[bool] = False
    deletes: ClassVar[bool] = False
    continues_without_worker: ClassVar[bool] = False
    can_stop: ClassVar[bool] = False
    typed_kept: ClassVar[timedelta] = timedelta(days=7)

    @abstractmethod
    def title(self, resource: str) -> str:
        """The heading of its form."""

    def targets(self, resource: str, params: Params) -> list[str]:
        """The names of all targets that it changes: the user needs the right to each; pure."""
        return [resource]

    def names_another_cluster(self, params: Params) -> bool:
        """Whether its plan names something of another cluster than the plan's; pure."""
        return False

    @abstractmethod
    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """Read the facts on which the change depends from the cluster. Raises GatewayError."""

    def within_scope(self, facts: Facts, scope: Scope) -> Facts:
        """The facts without names outside the user's scope, for `draft` and `differences`; pure."""
        return facts

    @abstractmethod
    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        """The draft that the user reviews; pure. `snapshot`: the newest Snapshot, or None.

        Raises PlanRefused if the change is not possible.
        """

    def compared(self, facts: Facts) -> Facts:
        """The part of the facts that must be the same at review and when it is applied; pure."""
        return facts

    @abstractmethod
    def differences(self, then: Facts, now: Facts) -> list[str]:
        """The differences between the facts of the review and those of now, as texts; pure."""

    @abstractmethod
    def steps(self, params: Params) -> list[Step]:
        """The steps of `apply`, in order; pure."""

    @abstractmethod
    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        """Apply the change; call `progress.start_step` at the start of each step.

        Raises GatewayError, Unfinished and Stopped.
        """

    def undo(self, plan: Plan) -> Proposal | None:
        """The change that undoes this plan; None if it cannot be undone.

        It is planned, reviewed and applied as any other. For an ItemsAction it undoes only the
        items in `plan.applied_items`.
        """
        return None

    def result_text(self, plan: Plan) -> str:
        """What a plan that is done did, as a Reason for the audit log; "" = what was planned."""
        return ""

    def stopped_text(self, plan: Plan) -> str:
        """What a plan had done when a user stopped it, as a Reason; "" = see its items."""
        return ""

    def result_links(self, plan: Plan) -> list[tuple[str, str]]:
        """(URL, text) of the pages that show what an ended plan made."""
        return []

    def confirm_label(self) -> str:
        """The text of the button that applies the plan."""
        return _("Delete permanently") if self.deletes else _("Apply")

    def plan_steps(self, plan: Plan) -> list[Step]:
        """The steps of a plan, with their states."""
        states = plan.step_states
        return [
            replace(step, state=StepState(states.get(step.key, step.state)))
            for step in self.steps(plan.params)
        ]

    def form_url(self, plan: Plan) -> str:
        """The URL of the empty form for the plan's target."""
        has_target = self.has_target_page and not self.creates
        args = [plan.cluster, plan.resource] if has_target else [plan.cluster]
        return reverse(self.form_page, args=args)

    def list_url(self, cluster: str) -> str:
        """The page that lists all such targets."""
        return reverse(self.target_type.list_page, args=[cluster])

    def next_link(self, cluster: str, resource: str, is_done: bool) -> tuple[str, str]:
        """(URL, text) of the link on the page of an ended plan: to the target if it exists, else to
        the list."""
        exists = not self.deletes if is_done else not self.creates
        if exists and self.has_target_page:
            page = self.target_type.page
            return reverse(page, args=[cluster, resource]), str(self.target_type.page_link)
        return self.list_url(cluster), str(self.target_type.list_link)


class ItemsAction(ActionType):
    """A change to many items, for example topics or partitions, each of which can fail alone.

    `facts[ITEMS]` has the facts of each item by its key. A plan that failed for some items can be
    resumed: only these are compared with the facts of the review, and applied.

    Attributes:
        lists_items: the page lists all items; else only those that failed.
    """

    lists_items: ClassVar[bool] = True

    @abstractmethod
    def items(self, params: Params) -> list[str]:
        """The keys of the items, in order; users see them as names; pure."""

    @abstractmethod
    def apply_items(
        self, gateway: Gateway, params: Params, keys: list[str]
    ) -> Iterator[EndedItem | StopPoint]:
        """Apply these items; yield each when it ended.

        When it yields a StopPoint, no write is in progress, and each item that ended was yielded.
        Raises GatewayError if no other item can be applied. If the worker is lost, an item may be
        applied twice.
        """

    def allows_differences(self, then: Facts, params: Params) -> bool:
        """Whether it is applied even if the facts changed since the review: then the new facts
        replace those of the review, so that an undo restores them; pure."""
        return False

    def changed_items(self, then: Facts, now: Facts) -> list[str]:
        """The keys of the items whose facts changed since the review, for `differences`; pure."""
        return [key for key, facts in now[ITEMS].items() if facts != then[ITEMS].get(key)]

    def steps(self, params: Params) -> list[Step]:
        return [Step(ITEMS, _("Applying"))]

    def apply(self, gateway: Gateway, params: Params, progress: ApplyProgress) -> None:
        progress.start_step(ITEMS)
        keys = [key for key in self.items(params) if key not in progress.applied_items]
        for event in self.apply_items(gateway, params, keys):
            if isinstance(event, StopPoint):
                progress.stop_if_wanted(event.share)
            else:
                progress.end_item(event.key, event.error)
