"""The lag of each partition, and its sums, over group tables of one or several ticks (GROUPS in
monitoring/ticks/schema.py).

    lag = end offset − committed offset

The read model has the sums of all groups of a tick (monitoring/read_model/group_columns.py).

Sums skip partitions without a lag and count them separately. A partition with a commit beyond its
end is *ahead*: it counts as 0, so that its negative lag does not hide another partition's. `ahead`
counts these partitions, `ahead_by` sums their offsets beyond the end. If no lag is known, the sum
is null, never 0.
"""

import pyarrow as pa
import pyarrow.compute as pc

from monitoring.lag.notes import LagNote


def with_lag(groups: pa.Table) -> pa.Table:
    """`groups` with `lag` computed from the offsets, and a column `lag_note` (see LagNote)."""
    end, committed = groups["log_end_offset"], groups["committed_offset"]
    lag = pc.subtract(end, committed)
    note = pc.if_else(
        pc.is_null(committed),
        LagNote.NOT_COMMITTED.value,
        pc.if_else(
            pc.is_null(end),
            LagNote.END_UNKNOWN.value,
            pc.if_else(pc.less(lag, 0), LagNote.AHEAD_OF_END.value, LagNote.PLAIN.value),
        ),
    )
    groups = groups.set_column(groups.schema.get_field_index("lag"), "lag", lag)
    return groups.append_column("lag_note", note)


def tick_totals(groups: pa.Table) -> pa.Table:
    """One row per tick and topic, sorted by both.

    Columns: tick, topic, partitions, lag, lag_max, ahead, not_committed, end_unknown, ahead_by.
    """
    with_topic = groups.filter(pc.is_valid(_decoded(groups["topic"])))
    return _totals(with_topic, ["tick", "topic"], [])


def member_totals(groups: pa.Table) -> pa.Table:
    """One row per member, sorted by client id and host, with the sums over its partitions.

    Columns: member_id, client_id, member_host, and the figures of `tick_totals`.
    """
    owned = groups.filter(pc.greater(pc.binary_length(groups["member_id"]), 0))
    facts = ["client_id", "member_host"]
    order = [("client_id", "ascending"), ("member_host", "ascending"), ("member_id", "ascending")]
    return _totals(owned, ["member_id"], facts).sort_by(order)


def rows_named(groups: pa.Table, column: str, name: str) -> pa.Table:
    """The rows whose dictionary column `column` is `name`; compares indices, not texts."""
    matches = [
        pc.equal(chunk.indices, chunk.dictionary.index(name).as_py())
        for chunk in groups[column].chunks
    ]
    return groups.filter(pa.chunked_array(matches, pa.bool_()))


def _totals(groups: pa.Table, keys: list[str], facts: list[str]) -> pa.Table:
    with_notes = with_lag(groups)
    # A group that reads nothing has one row without a topic, which is not counted.
    is_partition = pc.is_valid(_decoded(with_notes["topic"]))
    columns = {name: _decoded(with_notes[name]) for name in (*keys, *facts)}
    columns |= {
        "partitions": pc.cast(is_partition, pa.int64()),
        "lag": pc.max_element_wise(with_notes["lag"], 0, skip_nulls=False),
        "ahead": _flag(with_notes, LagNote.AHEAD_OF_END, is_partition),
        "not_committed": _flag(with_notes, LagNote.NOT_COMMITTED, is_partition),
        "end_unknown": _flag(with_notes, LagNote.END_UNKNOWN, is_partition),
        "ahead_by": pc.max_element_wise(pc.negate(with_notes["lag"]), 0),  # null counts as 0, too
    }
    aggregates = [(name, "first") for name in facts]
    aggregates += [("partitions", "sum"), ("lag", "sum"), ("lag", "max"), ("ahead", "sum")]
    aggregates += [("not_committed", "sum"), ("end_unknown", "sum"), ("ahead_by", "sum")]
    table = pa.table(columns).group_by(keys, use_threads=False).aggregate(aggregates)
    names = {f"{name}_first": name for name in facts} | {
        "partitions_sum": "partitions",
        "lag_sum": "lag",
        "ahead_sum": "ahead",
        "not_committed_sum": "not_committed",
        "end_unknown_sum": "end_unknown",
        "ahead_by_sum": "ahead_by",
    }
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    return table.sort_by([(key, "ascending") for key in keys])


def _flag(with_notes: pa.Table, note: LagNote, is_partition: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(pc.and_(pc.equal(with_notes["lag_note"], note.value), is_partition), pa.int64())


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary column as plain values: group_by cannot use dictionaries of several chunks."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
