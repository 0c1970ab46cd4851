"""The Arrow tables of one tick: what every live page, chart, alert rule and report reads.

A tick is `floor(now / interval)`. It yields one table of partitions and one of groups for a
cluster, and a small JSON header (`meta`):

    {"version": 1, "cluster": slug, "tick": int, "at_ms": int, "interval_ms": int,
     "status": "ok" | "gap", "reason": str,           # a gap says why nothing was sampled
     "refused": [str],                                # what was told and not believed
     "took_ms": int, "controller_id": int | null, "cluster_id": str,
     "groups_complete": bool, "zookeeper_up": bool | null,
     "since": {"leaderless"?: ms, "zookeeper"?: ms},  # when a trouble that still lasts began
     "brokers": [{"id", "host", "port", "rack", "up": bool, "source": "brokerd" | "none",
                  "down_since_ms", "size_bytes",
                  "bytes_in", "bytes_out", "messages_in", "requests", "connections",
                  "rss_bytes", "cpu_seconds", "disk_total_bytes", "disk_free_bytes"}]}

A figure that is not known is null, never 0. Counters (`bytes_in` …) count since the broker
started; a smaller value than the tick before means the broker was restarted.

A column that is younger than a file or a Redis entry is null in what is read from it.
"""

import pyarrow as pa

_NAME = pa.dictionary(pa.int32(), pa.string())

PARTITIONS = pa.schema(
    [
        ("cluster", _NAME),
        ("tick", pa.int64()),
        ("at_ms", pa.int64()),
        ("topic", _NAME),
        ("partition", pa.int32()),
        ("leader", pa.int32()),  # broker id, -1 = no leader
        ("replicas", pa.list_(pa.int32())),
        ("isr", pa.list_(pa.int32())),
        ("log_start_offset", pa.int64()),
        ("log_end_offset", pa.int64()),  # what ListOffsets "latest" says: the high watermark
        ("size_bytes", pa.int64()),  # the leader's replica
        ("replicas_size_bytes", pa.int64()),  # every replica whose broker told, in one sum
        ("replicas_told", pa.int32()),  # how many those are
        ("bytes_in", pa.int64()),
        ("bytes_out", pa.int64()),
        ("messages_in", pa.int64()),
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
        ("lag", pa.int64()),  # null = none: nothing committed, or the end is unknown
        ("member_id", pa.string()),
        ("client_id", pa.string()),
        ("member_host", pa.string()),
        # null = told in this tick; else the coordinator is silent and this is what it told last.
        ("told_at_ms", pa.int64()),
    ]
)
