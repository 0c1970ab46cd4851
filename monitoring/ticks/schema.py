"""The schemas of a tick's Arrow tables, which pages, charts, alert rules and reports read.

A tick is `floor(now / interval)`. It yields one table of partitions and one of groups for a
cluster, and a small JSON header (`meta`):

    {"version": 1, "cluster": slug, "tick": int, "at_ms": int, "interval_ms": int,
     "status": "ok" | "gap", "reason": str,           # a gap says why nothing was sampled
     "invalid": [str],                                # invalid values that were dropped
     "took_ms": int, "controller_id": int | null, "cluster_id": str,
     "groups_complete": bool, "zookeeper_up": bool | null,
     "since": {"leaderless"?: ms, "zookeeper"?: ms},  # when a current problem began
     "brokers": [{"id", "host", "port", "rack", "up": bool, "source": "brokerd" | "none",
                  "down_since_ms", "size_bytes",
                  "bytes_in", "bytes_out", "messages_in", "requests", "connections",
                  "rss_bytes", "cpu_seconds", "disk_total_bytes", "disk_free_bytes",
                  "log_dirs": [{"path", "total_bytes", "free_bytes", "size_bytes"}]}]}

An unknown value is null, never 0. Counters (`bytes_in` …) count since the broker started; if a
value is smaller than in the previous tick, the broker was restarted.

Of older files and Redis entries, columns that are missing are null, and columns that are not in the
schema are ignored.
"""

import pyarrow as pa

_NAME = pa.dictionary(pa.int32(), pa.string())

PARTITIONS = pa.schema(
    [
        ("cluster", _NAME),
        ("tick", pa.int64()),
        ("at_ms", pa.int64()),
        ("topic", _NAME),
        ("topic_id", _NAME),  # null = the broker does not tell it
        ("partition", pa.int32()),
        ("leader", pa.int32()),  # broker id, -1 = no leader
        ("replicas", pa.list_(pa.int32())),
        ("isr", pa.list_(pa.int32())),
        ("log_start_offset", pa.int64()),
        ("log_end_offset", pa.int64()),  # ListOffsets "latest": the high watermark
        ("size_bytes", pa.int64()),  # the leader's replica
        ("replicas_size_bytes", pa.int64()),  # the sum over all replicas whose size is known
        ("replicas_reported", pa.int32()),  # the number of replicas whose size is known
        ("bytes_in", pa.int64()),
        ("bytes_out", pa.int64()),
        ("messages_in", pa.int64()),
        # The largest timestamp of a record; null = unknown, or there is no record.
        ("last_record_ms", pa.int64()),
        # Whether there are or may be newer records, whose time was not read yet; null = unknown.
        ("has_newer_records", pa.bool_()),
    ]
)

GROUPS = pa.schema(
    [
        ("cluster", _NAME),
        ("tick", pa.int64()),
        ("at_ms", pa.int64()),
        ("group", _NAME),
        ("state", _NAME),
        ("protocol_type", _NAME),
        ("coordinator", pa.int32()),
        ("members", pa.int32()),
        # A group that has neither a commit nor an assignment is one row with a null topic.
        ("topic", _NAME),
        ("partition", pa.int32()),
        ("committed_offset", pa.int64()),  # null = nothing committed
        ("log_end_offset", pa.int64()),
        ("member_id", pa.string()),
        ("client_id", pa.string()),
        ("member_host", pa.string()),
        # null = read in this tick; else the coordinator did not answer, and this row is older.
        ("reported_at_ms", pa.int64()),
    ]
)
