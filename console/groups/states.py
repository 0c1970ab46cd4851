"""The states of groups and partitions for pages: name, tone, and the rule that decided."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.ui import numbers
from monitoring.lag.flow import Flow
from monitoring.read_model.rows import GroupRow, LagRow


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


def names() -> dict[Flow, str]:
    return {
        Flow.CAUGHT_UP: _("Caught up"),
        Flow.UNKNOWN: _("Unknown"),
        Flow.NOT_COMMITTED: _("Not committed"),
        Flow.DRAINING: _("Draining"),
        Flow.REWOUND: _("Rewound"),
        Flow.GROWING: _("Growing"),
        Flow.NO_MEMBERS: _("No members"),
        Flow.STALLED: _("Stalled"),
    }


def rules() -> dict[Flow, str]:
    """The rule of each state, of those in monitoring/lag/flow.py."""
    return {
        Flow.CAUGHT_UP: _("The commit is at the end of the log, or was within the last 45 s."),
        Flow.UNKNOWN: _(
            "The end offset is unknown, the commit is beyond it, or there are samples of less than "
            "a minute."
        ),
        Flow.NOT_COMMITTED: _("The group never committed an offset of the partition."),
        Flow.DRAINING: _("The commit moved in the last 5 minutes, and the lag did not grow."),
        Flow.REWOUND: _("The commit is below an earlier one of the last 5 minutes."),
        Flow.GROWING: _("The commit moved in the last 5 minutes, but the lag grew."),
        Flow.NO_MEMBERS: _("Records wait, and the partition is not assigned to a member."),
        Flow.STALLED: _("Records wait, and the commit did not move in the last 5 minutes."),
    }


def of_partition(row: LagRow) -> State:
    return State(row.flow.key, names()[row.flow], rules()[row.flow])


def of_group(row: GroupRow) -> State:
    """The state of the worst partition, and how many have it."""
    if row.told_at_ms is not None:
        return State("unknown", names()[Flow.UNKNOWN], _("Its coordinator does not answer."))
    if not row.flows:
        return State("unknown", names()[Flow.UNKNOWN], _("The group has no partitions."))
    count = dict(row.flows)[row.flow]
    text = _("%(n)s of %(of)s partitions. %(rule)s")
    of = {"n": numbers.count(count), "of": numbers.count(row.partitions), "rule": rules()[row.flow]}
    return State(row.flow.key, names()[row.flow], text % of)


def counts(row: GroupRow) -> list[tuple[State, int]]:
    """How many partitions have each state, the worst first."""
    return [(State(flow.key, names()[flow], rules()[flow]), count) for flow, count in row.flows]
