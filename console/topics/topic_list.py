"""The columns and the filters of the list of topics. Pure.

`?columns=` has the keys of the shown columns, `?show=` the key of a filter.
"""

from collections.abc import Callable, Iterator, Mapping

from django.utils.translation import gettext as _

from console.ui.table import Column
from monitoring.lag.flow import Flow
from monitoring.read_model.rows import TopicRow

SHOWN = (
    "name", "partitions", "replication", "size", "rate", "state", "groups", "lag", "spread", "skew",
    "leader-skew", "health",
)  # fmt: skip
_NAME = "name"  # is always shown
BEHIND = {Flow.GROWING, Flow.NO_MEMBERS, Flow.STALLED}
SPREAD_MIN, SKEW_MAX = 0.6, 0.3  # EFAK's limits

FILTERS: Mapping[str, Callable[[TopicRow], bool]] = {
    "unhealthy": lambda row: bool(row.offline or row.under_replicated),
    "behind": lambda row: row.flow in BEHIND,
    "unread": lambda row: not row.groups,
    "uneven": lambda row: is_uneven(row),
    "idle": lambda row: row.messages_rate.value == 0,
}


def filter_titles() -> list[tuple[str, str]]:
    return [
        ("", _("All")),
        ("unhealthy", _("Not in sync")),
        ("behind", _("Behind or stalled")),
        ("unread", _("No group")),
        ("uneven", _("Badly spread")),
        ("idle", _("Idle now")),
    ]


def is_uneven(row: TopicRow) -> bool:
    """Whether EFAK would show the topic in red or amber. One partition cannot be spread."""
    if row.partitions < 2 or row.spread is None:
        return False
    return (
        row.spread < SPREAD_MIN or (row.skew or 0) > SKEW_MAX or (row.leader_skew or 0) > SKEW_MAX
    )


def columns() -> list[Column]:
    return [
        Column("name", _("Topic"), lambda row: row.name),
        Column("partitions", _("Partitions"), lambda row: row.partitions, numeric=True),
        Column("replication", _("Replication"), lambda row: row.replication, numeric=True),
        Column("offsets", _("Offsets"), lambda row: row.offsets, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("disk", _("On disk"), lambda row: row.disk_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("bytes", _("Bytes in"), lambda row: row.bytes_in_rate, numeric=True),
        Column("bytes-out", _("Bytes out"), lambda row: row.bytes_out_rate, numeric=True),
        Column(
            "state",
            _("Worst state"),
            lambda row: row.flow,
            exported=lambda row: row.flow.key if row.flow is not None else None,
        ),
        Column("groups", _("Groups"), lambda row: row.groups, numeric=True),
        Column("lag", _("Largest lag"), lambda row: row.lag, numeric=True),
        Column("spread", _("Spread"), lambda row: row.spread, numeric=True),
        Column("skew", _("Skew"), lambda row: row.skew, numeric=True),
        Column("leader-skew", _("Leader skew"), lambda row: row.leader_skew, numeric=True),
        Column("health", _("Health"), lambda row: -row.offline * 1000 - row.under_replicated),
    ]


def shown(text: str) -> frozenset[str]:
    """The keys of the shown columns, from `?columns=`."""
    known = {column.key for column in columns()} & set(text.split(","))
    return frozenset(known | {_NAME}) if known else frozenset(SHOWN)


def toggles(every: list[Column], shown: frozenset[str]) -> Iterator[tuple[Column, str]]:
    """Each column that can be hidden, and `?columns=` with it hidden or shown."""
    for column in every:
        if column.key != _NAME:
            keys = shown ^ {column.key}
            yield column, ",".join(each.key for each in every if each.key in keys)
