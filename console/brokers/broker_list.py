"""The live list of a cluster's brokers (templates/brokers/list_content.html)."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.accounts.rights import Rights
from console.brokers.broker_warnings import DISK_WARN_PERCENT, warnings_by_broker
from console.live import snapshot_cache
from console.ui.table import Column, Table
from monitoring.models import Cluster


def columns() -> list[Column]:
    return [
        Column("broker", _("Broker"), lambda row: row.id),
        Column(
            "state",
            _("State"),
            lambda row: row.up,
            exported=lambda row: "up" if row.up else "down",
        ),
        Column("address", _("Address"), lambda row: row.address),
        Column("leaders", _("Leaders"), lambda row: row.leaders, numeric=True),
        Column("replicas", _("Replicas"), lambda row: row.replicas, numeric=True),
        Column("rate", _("Messages in"), lambda row: row.messages_rate, numeric=True),
        Column("bytes", _("Bytes in"), lambda row: row.bytes_in_rate, numeric=True),
        Column("bytes-out", _("Bytes out"), lambda row: row.bytes_out_rate, numeric=True),
        Column("cpu", _("CPU"), lambda row: row.cpu_cores, numeric=True),
        Column("memory", _("Memory"), lambda row: row.rss_bytes, numeric=True),
        Column("size", _("Data"), lambda row: row.size_bytes, numeric=True),
        Column("disk", _("Disk used"), lambda row: row.disk_used_percent),
    ]


def context(
    cluster: Cluster, rights: Rights, _name: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """All brokers of the newest ok tick, with cluster id and controller."""
    snapshot = snapshot_cache.snapshot(cluster.slug, rights)
    brokers = snapshot.brokers if snapshot else []
    warnings = warnings_by_broker(brokers)
    table = Table(query, columns(), "broker", id="brokers")
    table.show(brokers, lambda row: f"{row.id} {row.address or ''} {row.rack or ''}")
    return {
        "table": table.map_rows(lambda row: (row, warnings[row.id])),
        "disk_warn_percent": DISK_WARN_PERCENT,
        "at_ms": snapshot.at_ms if snapshot else None,
        "cluster_id": snapshot.tick.cluster_id if snapshot else "",
        "controller": snapshot.tick.controller_id if snapshot else None,
        "without_source": any(broker.source == "none" for broker in brokers),
    }
