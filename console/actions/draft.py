"""What a plan consists of. Pure.

A *proposal* names the action, its target and the exact change. Its action type
(console/actions/action_type.py) reads the *facts* from the cluster and makes a *draft* from both:
what the user reviews. When the plan is applied, the facts are read again; if they changed since the
review, nothing is done, and the differences are listed. Applying has *steps*, one after the other;
the step of an ItemsAction has *items*, each of which can fail alone.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _

from console.ui.texts import first_lines
from monitoring.translate_error_reason import translated

Facts = Mapping[str, Any]  # JSON-able


class PlanRefused(Exception):
    """The change is not possible; the message says why and what to do.

    The message is a Reason (monitoring/error_reason.py) if the plan stores it as its outcome; else
    it is a text in the user's language.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return translated(self.message)


class PlanAlreadyConfirmed(PlanRefused):
    """The plan was already confirmed, for example by a double click."""


def refuse_unread_partitions(names: Iterable[str]) -> None:
    """Raises PlanRefused if there are any: partitions whose leaders did not answer."""
    text = _("Partition %(name)s could not be read: its leader does not answer.")
    lines = [text % {"name": name} for name in names]
    if lines:
        raise PlanRefused(first_lines(lines))


@dataclass(frozen=True, slots=True)
class Proposal:
    """What to do to which target."""

    action: str
    resource: str  # the name of the target
    params: Mapping[str, Any]  # the exact change, made of the form


class StepState(StrEnum):
    """The state of a step."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"  # its worker stopped responding


@dataclass(frozen=True, slots=True)
class Step:
    """A step of applying a change; `key` is stored, `title` is shown."""

    key: str
    title: str
    state: StepState = StepState.WAITING


@dataclass(frozen=True, slots=True)
class Change:
    """A changed value, as a line of the review: before or after may be empty."""

    name: str
    before: str
    after: str
    note: str = ""  # what the change means
    share: float | None = None  # of the largest change of the plan, for a bar


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure above the changes: the effect of the whole plan."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a user reviews before the change is applied."""

    title: str
    changes: list[Change]
    figures: list[Figure] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)  # what was checked and is as it must be
    affected: list[str] = field(default_factory=list)  # affected groups and others
    warnings: list[str] = field(default_factory=list)
    undo: str = ""  # a text: how to undo it; empty = not possible
    typed_name: str = ""  # what the user types to confirm, where data are deleted; empty = nothing
    # For the audit log: the changed values, by stable keys.
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def same_facts(one: Facts, other: Facts) -> bool:
    """Whether facts are the same as JSON, in which a plan stores them; in any order of keys."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
