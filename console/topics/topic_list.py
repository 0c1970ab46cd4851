"""The list of topics: its columns, its filters, and its live part.

`?columns=` has the keys of the shown columns, `?show=` the key of a filter.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.groups import lag_state_texts
from console.live import snapshot_cache
from console.topics.changeable_topics import may_change
from console.ui.table import Column, Table
from monitoring.lag.lag_state import LagState
from monitoring.models import Cluster
from monitoring.read_model.row_types import GroupOnTopicRow, TopicRow
from monitoring.read_model.snapshot import Snapshot

SHOWN_BY_DEFAULT = (
    "name", "partitions", "size", "rate", "last-record", "state", "groups", "spread", "skew",
    "health",
)  # fmt: skip
GROUPS_SHOWN = 3  # of each topic; narrow screens show only the first
_NAME = "name"  # always shown
BEHIND = {LagState.GROWING, LagState.NO_MEMBERS, LagState.STALLED}
# Spread: the share of the brokers that have replicas of the topic. Skew: the share of these that
# have more than their part of the replicas (leader skew: that lead more than their part).
# read_model/placement.py has the formulas; the limits are those of EFAK (Kafka Eagle).
SPREAD_MIN, SKEW_MAX = 0.6, 0.3

FILTERS: Mapping[str, Callable[[TopicRow], bool]] = {
    "unhealthy": lambda row: bool(row.offline or row.under_replicated),
    "behind": lambda row: row.lag_state in BEHIND,
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
    """Whether brokers have unequal parts of the topic. One partition cannot be spread."""
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
        Column("offsets", _("Offsets"), lambda row: row.offset_count, numeric=True),
        Column("size", _("Size"), lambda row: row.size_bytes, numeric=True),
        Column("disk", _("On disk"), lambda row: row.disk_bytes, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("bytes", _("Bytes in"), lambda row: row.bytes_in_rate, numeric=True),
        Column("bytes-out", _("Bytes out"), lambda row: row.bytes_out_rate, numeric=True),
        Column(
            "last-record",
            _("Last record"),
            lambda row: row.last_record.at_ms,
            numeric=True,
            exported=lambda row: _utc(row.last_record.at_ms),
        ),
        Column(
            "state",
            _("Worst state"),
            lambda row: row.lag_state,
            exported=lambda row: row.lag_state.key if row.lag_state is not None else None,
        ),
        Column("groups", _("Groups"), lambda row: row.groups),
        Column("lag", _("Largest lag"), lambda row: row.lag, numeric=True),
        Column("spread", _("Spread"), lambda row: row.spread, numeric=True),
        Column("skew", _("Skew"), lambda row: row.skew, numeric=True),
        Column("leader-skew", _("Leader skew"), lambda row: row.leader_skew, numeric=True),
        Column("health", _("Health"), lambda row: -row.offline * 1000 - row.under_replicated),
    ]


def shown_columns(text: str) -> frozenset[str]:
    """The keys of the shown columns, from `?columns=`."""
    known = {column.key for column in columns()} & set(text.split(","))
    return frozenset(known | {_NAME}) if known else frozenset(SHOWN_BY_DEFAULT)


def column_toggles(every: list[Column], shown: frozenset[str]) -> Iterator[tuple[Column, str]]:
    """Each column that can be hidden, and the value of `?columns=` after a click on it."""
    for column in every:
        if column.key != _NAME:
            keys = shown ^ {column.key}
            yield column, ",".join(each.key for each in every if each.key in keys)


def context(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """All topics; internal ones (`__…`) only if `internal` is 1."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    rows = snapshot.topics if snapshot else []
    internal = query.get("internal") == "1"
    if not internal:
        rows = [row for row in rows if not row.is_internal]
    chosen = query.get("show", "")
    if chosen in FILTERS:
        rows = list(filter(FILTERS[chosen], rows))
    may_select = rights.may("topic.configure") and not cluster.read_only
    all_columns = columns()
    shown = shown_columns(query.get("columns", ""))
    table_columns = [
        *([Column("select", _("Select"), is_title_hidden=True)] if may_select else []),
        *(column for column in all_columns if column.key in shown),
    ]
    table = Table(query, table_columns, "name", id="topics").show(rows, lambda row: row.name)
    names = lag_state_texts.names()
    may_view_groups = rights.may("group.view") and "groups" in shown
    table.map_rows(
        lambda row: (
            row,
            _state(row.lag_state, names),
            _worst_groups(snapshot, row, names) if may_view_groups and row.groups else [],
        )
    )
    return {
        "table": table,
        "shown": shown,
        "column_choices": [
            (column.title, column.key in shown, table.url(columns=text, page=None))
            for column, text in column_toggles(all_columns, shown)
        ],
        "filters": [
            (title, key == chosen, table.url(show=key or None, page=None))
            for key, title in filter_titles()
        ],
        "filtered": chosen in FILTERS,
        "at_ms": snapshot.at_ms if snapshot else None,
        "internal": internal,
        "internal_url": table.url(internal=None if internal else "1", page=None),
        "may_select": may_select,
        "may_purge": rights.may("topic.purge"),
        "may_delete": rights.may("topic.delete"),
        "may_reassign": may_change(rights, cluster, snapshot, "topic.reassign"),
        "may_create": may_change(rights, cluster, snapshot, "topic.create"),
    }


def selected_names(cluster: Cluster, rights: Rights, sent: MultiValueDict[str, str]) -> list[str]:
    """The names in the parameter `topic`, and all that match the list's query in `matching`."""
    names = set(sent.getlist("topic"))
    if "matching" in sent:
        query = QueryDict(str(sent["matching"]).removeprefix("?")).dict()
        params = {key: str(value) for key, value in query.items()}
        table = context(cluster, rights, "", params)["table"]
        names.update(row.name for row in table.matching)
    return sorted(names)


def _state(lag_state: LagState | None, names: Mapping[LagState, str]) -> tuple[str, str] | None:
    """(name, key) of the worst state of the groups that read a topic."""
    return None if lag_state is None else (names[lag_state], lag_state.key)


def _worst_groups(
    snapshot: Snapshot | None, row: TopicRow, names: Mapping[LagState, str]
) -> list[tuple[GroupOnTopicRow, tuple[str, str] | None]]:
    """The groups of a topic with the worst states and lags: (row, state)."""
    readers = snapshot.readers(row.name) if snapshot else []
    readers.sort(key=lambda reader: (reader.lag_state, reader.lag or 0), reverse=True)
    return [(each, _state(each.lag_state, names)) for each in readers[:GROUPS_SHOWN]]


def _utc(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)
