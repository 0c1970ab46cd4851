"""The states of groups and partitions for pages: name, tone, and the rule that decided."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.ui import numbers
from monitoring.lag.read_state import ReadState
from monitoring.read_model.rows import GroupOnTopicRow, GroupRow, LagRow


@dataclass(frozen=True, slots=True)
class State:
    """`key` is the tone and the icon (console/ui/tones.py); `rule` says why it is so."""

    key: str
    name: str
    rule: str

    @property
    def fact_tone(self) -> str:
        """Of a figure in a fact line: only what is bad has a colour."""
        return "danger" if self.key == "stalled" else ""


def names() -> dict[ReadState, str]:
    return {
        ReadState.CAUGHT_UP: _("Caught up"),
        ReadState.UNKNOWN: _("Unknown"),
        ReadState.NOT_COMMITTED: _("Not committed"),
        ReadState.DRAINING: _("Draining"),
        ReadState.REWOUND: _("Rewound"),
        ReadState.GROWING: _("Growing"),
        ReadState.NO_MEMBERS: _("No members"),
        ReadState.STALLED: _("Stalled"),
    }


def rules() -> dict[ReadState, str]:
    """The rule of each state, of those in monitoring/lag/read_state.py."""
    return {
        ReadState.CAUGHT_UP: _("The commit is at the end of the log, or was within the last 45 s."),
        ReadState.UNKNOWN: _(
            "The end offset is unknown, the commit is beyond it, or there are samples of less than "
            "a minute."
        ),
        ReadState.NOT_COMMITTED: _("The group never committed an offset of the partition."),
        ReadState.DRAINING: _("The commit moved in the last 5 minutes, and the lag did not grow."),
        ReadState.REWOUND: _("The commit is below an earlier one of the last 5 minutes."),
        ReadState.GROWING: _("The commit moved in the last 5 minutes, but the lag grew."),
        ReadState.NO_MEMBERS: _("Records wait, and the partition is not assigned to a member."),
        ReadState.STALLED: _("Records wait, and the commit did not move in the last 5 minutes."),
    }


def of_partition(row: LagRow) -> State:
    return State(row.read_state.key, names()[row.read_state], rules()[row.read_state])


def of_group(row: GroupRow) -> State:
    """The state of the worst partition, and how many have it."""
    if row.reported_at_ms is not None:
        return State("unknown", names()[ReadState.UNKNOWN], _("Its coordinator does not answer."))
    if not row.read_states:
        return State("unknown", names()[ReadState.UNKNOWN], _("The group has no partitions."))
    count = dict(row.read_states)[row.read_state]
    text = _("%(n)s of %(of)s partitions. %(rule)s")
    of = {
        "n": numbers.count(count),
        "of": numbers.count(row.partitions),
        "rule": rules()[row.read_state],
    }
    return State(row.read_state.key, names()[row.read_state], text % of)


def of_group_on_topic(row: GroupOnTopicRow) -> State:
    """The state of the worst partition of the topic."""
    if row.reported_at_ms is not None:
        return State("unknown", names()[ReadState.UNKNOWN], _("Its coordinator does not answer."))
    return State(row.read_state.key, names()[row.read_state], rules()[row.read_state])


def counts(row: GroupRow) -> list[tuple[State, int]]:
    """How many partitions have each state, the worst first."""
    return [
        (State(read_state.key, names()[read_state], rules()[read_state]), count)
        for read_state, count in row.read_states
    ]
