"""Builds a tick's two Arrow tables from what the gateway read. Pure.

The code is vectorised: Python loops run per topic and per group, never per partition. So 40,000
partitions and 2,000 groups take a fraction of a second.
"""

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from monitoring.error_reason import Reason, several
from monitoring.gateway.wire.answers import ClusterAnswers
from monitoring.gateway.wire.metadata import BrokerIdLists, Longs, Metadata
from monitoring.gateway.wire.response_limits import LAG_MAX, printable
from monitoring.lag.formula import has_lag, lag_between
from monitoring.sampling.group_tables import JoinedGroups, join_groups
from monitoring.ticks.schema import GROUPS, PARTITIONS
from monitoring.ticks.tick import Tick

_REASONS_MAX = 6
_STATS = (
    "bytes_in", "bytes_out", "messages_in", "requests", "connections", "rss_bytes", "cpu_seconds",
)  # fmt: skip


def assemble(
    cluster: str, tick: int, interval_ms: int, took_ms: int, answers: ClusterAnswers
) -> Tick:
    """Make a tick from `answers`. What could not be read is null and listed in `reason`.

    Invalid values are null and listed in `invalid`.
    """
    joined = join_groups(answers.metadata, answers.coordinators)
    groups = _groups(cluster, tick, answers, joined)
    answers.invalid.add_all(joined.invalid)
    return Tick(
        cluster=cluster,
        tick=tick,
        at_ms=answers.at_ms,
        interval_ms=interval_ms,
        reason=several(sorted(set(answers.failures))[:_REASONS_MAX]),
        invalid=[*answers.invalid.messages()],
        took_ms=took_ms,
        controller_id=answers.metadata.controller_id,
        cluster_id=answers.metadata.cluster_id,
        groups_complete=answers.groups_complete and not joined.left_out_count,
        brokers=_brokers(answers),
        partitions=_partitions(cluster, tick, answers),
        groups=groups,
    )


def _groups(cluster: str, tick: int, answers: ClusterAnswers, rows: JoinedGroups) -> pa.Table:
    ends = _end_offsets(
        rows.topic_index, rows.partition, rows.topics, answers.metadata, answers.log_end
    )
    _drop_ends_far_from_commits(rows, ends)
    members = rows.members
    columns = _tick_columns(cluster, tick, answers.at_ms, len(rows.group_index)) | {
        "group": dictionary_array(rows.group_index, [group.group for group in rows.groups]),
        "state": _per_group(rows.group_index, [group.state for group in rows.groups]),
        "protocol_type": _per_group(
            rows.group_index, [group.protocol_type for group in rows.groups]
        ),
        "coordinator": np.array([g.coordinator for g in rows.groups], np.int32)[rows.group_index],
        "members": _member_counts(rows.group_index, [g.member_count for g in rows.groups]),
        "topic": dictionary_array(rows.topic_index, rows.topics),
        "partition": pa.array(rows.partition, mask=rows.partition < 0),
        "committed_offset": nullable(rows.committed),
        "log_end_offset": nullable(ends),
        "member_id": _strings(rows.member_index, [member.member_id for member in members]),
        "client_id": _strings(rows.member_index, [member.client_id for member in members]),
        "member_host": _strings(rows.member_index, [member.host for member in members]),
        "reported_at_ms": pa.nulls(len(rows.group_index), pa.int64()),
    }
    return pa.table(columns, schema=GROUPS)


def _end_offsets(
    topic_index: np.ndarray,
    partition: np.ndarray,
    topics: list[str],
    metadata: Metadata,
    log_end: Longs,
) -> Longs:
    """The end offset of each (topic, partition); −1 if it is unknown or does not exist."""
    topic_rows = [metadata.rows_by_topic.get(topic, range(0)) for topic in topics]
    topic_rows.append(range(0))  # for index −1: no topic
    starts = np.array([rows.start for rows in topic_rows], dtype=np.int64)[topic_index]
    counts = np.array([len(rows) for rows in topic_rows], dtype=np.int64)[topic_index]
    ends = np.full(len(topic_index), -1, dtype=np.int64)
    exists = (partition >= 0) & (partition < counts)
    ends[exists] = log_end[(starts + partition)[exists]]
    return ends


def _drop_ends_far_from_commits(rows: JoinedGroups, ends: Longs) -> None:
    """Set end offsets to unknown where the commit is too far away to be true.

    Clients can commit any offset.
    """
    is_known = has_lag(rows.committed >= 0, ends >= 0)
    far = is_known & (np.abs(lag_between(rows.committed, ends)) > LAG_MAX)
    for number in np.unique(rows.group_index[far]).tolist():
        name = printable(rows.groups[number].group)
        rows.invalid.add(Reason("group_far_commits", group=name))
    ends[far] = -1


def _per_group(group_index: np.ndarray, values: list[str]) -> pa.Array:
    # Encoded again, since several groups may have the same value.
    return dictionary_array(group_index, values).cast(pa.string()).dictionary_encode()


def _member_counts(group_index: np.ndarray, counts: list[int | None]) -> pa.Array:
    known = np.array([-1 if count is None else count for count in counts], dtype=np.int32)
    return nullable(known[group_index])


def _strings(indices: np.ndarray, values: list[str]) -> pa.Array:
    return dictionary_array(indices, values).cast(pa.string())


def _brokers(answers: ClusterAnswers) -> list[dict[str, Any]]:
    """The registered brokers, and unregistered brokers that are assigned a replica."""
    rows = []
    for broker in answers.metadata.brokers:
        stats = answers.broker_stats.get(broker.id)
        row = {
            "id": broker.id,
            "host": broker.host,
            "port": broker.port,
            "rack": broker.rack,
            "up": broker.id in answers.answering_brokers,
            "source": "none" if stats is None else "brokerd",
            "size_bytes": answers.broker_size_bytes.get(broker.id),
        }
        row |= {name: (stats or {}).get(name) for name in _STATS}
        rows.append(row | _disks(answers, broker.id))
    registered = {broker.id for broker in answers.metadata.brokers}
    assigned = set(np.unique(answers.metadata.replicas.values).tolist())
    for missing in sorted(assigned - registered):
        row = {"id": missing, "host": None, "port": None, "rack": None, "up": False}
        row["size_bytes"] = None
        row |= {"source": "none"} | dict.fromkeys(_STATS)
        rows.append(row | _disks(answers, missing))
    return sorted(rows, key=lambda row: row["id"])


def _disks(answers: ClusterAnswers, broker: int) -> dict[str, Any]:
    """The log directories of a broker, and the sums over them."""
    found = answers.log_dirs.get(broker, [])
    return {
        "disk_total_bytes": _sum([each.total_bytes for each in found]),
        "disk_free_bytes": _sum([each.free_bytes for each in found]),
        "log_dirs": [asdict(each) for each in found],
    }


def _sum(values: list[int | None]) -> int | None:
    """The sum; None if a value is unknown, or if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _partitions(cluster: str, tick: int, answers: ClusterAnswers) -> pa.Table:
    metadata = answers.metadata
    count = metadata.row_count
    columns = _tick_columns(cluster, tick, answers.at_ms, count) | {
        "topic": dictionary_array(metadata.topic_of_row(), metadata.topics),
        "topic_id": _topic_id_column(metadata),
        "partition": metadata.partition_of_row(),
        "leader": metadata.leaders,
        "replicas": _list_array(metadata.replicas),
        "isr": _list_array(metadata.isr),
        "log_start_offset": nullable(answers.log_start),
        "log_end_offset": nullable(answers.log_end),
        "size_bytes": nullable(answers.size_bytes),
        "replicas_size_bytes": nullable(answers.replicas_size_bytes),
        "replicas_reported": answers.replicas_reported.astype(np.int32),
        "bytes_in": nullable(answers.counters.bytes_in),
        "bytes_out": nullable(answers.counters.bytes_out),
        "messages_in": nullable(answers.counters.messages_in),
        "last_record_ms": nullable(answers.last_record_ms),
        "has_newer_records": answers.has_newer_records,
    }
    return pa.table(columns, schema=PARTITIONS)


def _topic_id_column(metadata: Metadata) -> pa.DictionaryArray:
    """Null for topics without an id."""
    topic = metadata.topic_of_row()
    has_id = np.array([bool(topic_id) for topic_id in metadata.topic_ids], dtype=bool)
    return dictionary_array(np.where(has_id[topic], topic, -1), metadata.topic_ids)


def _list_array(lists: BrokerIdLists) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(lists.offsets), pa.array(lists.values))


def _tick_columns(cluster: str, tick: int, at_ms: int, count: int) -> dict[str, Any]:
    return {
        "cluster": dictionary_array(np.zeros(count, dtype=np.int32), [cluster]),
        "tick": np.full(count, tick, dtype=np.int64),
        "at_ms": np.full(count, at_ms, dtype=np.int64),
    }


def dictionary_array(indices: np.ndarray, values: Any) -> pa.DictionaryArray:
    """`values[index]` for each index; null for −1."""
    keys = pa.array(indices, type=pa.int32(), mask=np.asarray(indices) < 0)
    return pa.DictionaryArray.from_arrays(keys, pa.array(values, type=pa.string()))


def nullable(values: np.ndarray) -> pa.Array:
    """An Arrow array in which negative values, which mean unknown, are null."""
    return pa.array(values, mask=values < 0)
