"""The lag states of groups and partitions for pages: name, tone, and the rule that decides."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.ui import numbers
from monitoring.lag.lag_state import LagState
from monitoring.read_model.row_types import GroupOnTopicRow, GroupRow, LagRow


@dataclass(frozen=True, slots=True)
class State:
    """A lag state on a page. `key` selects tone and icon (console/ui/tones.py); `rule` says why the
    group or partition has it."""

    key: str
    name: str
    rule: str

    @property
    def fact_tone(self) -> str:
        """The tone in a line of facts, where only bad states have a colour."""
        return "danger" if self.key == "stalled" else ""


def names() -> dict[LagState, str]:
    return {
        LagState.CAUGHT_UP: _("Caught up"),
        LagState.UNKNOWN: _("Unknown"),
        LagState.NOT_COMMITTED: _("Not committed"),
        LagState.DRAINING: _("Draining"),
        LagState.REWOUND: _("Rewound"),
        LagState.GROWING: _("Growing"),
        LagState.NO_MEMBERS: _("No members"),
        LagState.STALLED: _("Stalled"),
    }


def rules() -> dict[LagState, str]:
    """The rule of each state, of those in monitoring/lag/lag_state.py."""
    return {
        LagState.CAUGHT_UP: _("The commit is at the end of the log, or was within the last 45 s."),
        LagState.UNKNOWN: _(
            "The end offset is unknown, the commit is beyond it, or there are samples of less than "
            "a minute."
        ),
        LagState.NOT_COMMITTED: _("The group never committed an offset of the partition."),
        LagState.DRAINING: _("The commit moved in the last 5 minutes, and the lag did not grow."),
        LagState.REWOUND: _("The commit is below an earlier one of the last 5 minutes."),
        LagState.GROWING: _("The commit moved in the last 5 minutes, but the lag grew."),
        LagState.NO_MEMBERS: _("Records wait, and the partition is not assigned to a member."),
        LagState.STALLED: _("Records wait, and the commit did not move in the last 5 minutes."),
    }


def of_partition(row: LagRow) -> State:
    return State(row.lag_state.key, names()[row.lag_state], rules()[row.lag_state])


def of_group(row: GroupRow) -> State:
    """The state of the worst partition, and how many have it."""
    if row.reported_at_ms is not None:
        return State("unknown", names()[LagState.UNKNOWN], _("Its coordinator does not answer."))
    if not row.lag_states:
        return State("unknown", names()[LagState.UNKNOWN], _("The group has no partitions."))
    count = dict(row.lag_states)[row.lag_state]
    text = _("%(n)s of %(of)s partitions. %(rule)s")
    params = {
        "n": numbers.count(count),
        "of": numbers.count(row.partitions),
        "rule": rules()[row.lag_state],
    }
    return State(row.lag_state.key, names()[row.lag_state], text % params)


def of_group_on_topic(row: GroupOnTopicRow) -> State:
    """The state of the worst partition of the topic."""
    if row.reported_at_ms is not None:
        return State("unknown", names()[LagState.UNKNOWN], _("Its coordinator does not answer."))
    return State(row.lag_state.key, names()[row.lag_state], rules()[row.lag_state])


def counts(row: GroupRow) -> list[tuple[State, int]]:
    """How many partitions have each state, the worst first."""
    return [
        (State(lag_state.key, names()[lag_state], rules()[lag_state]), count)
        for lag_state, count in row.lag_states
    ]
