"""Reads the segments of a partition from its leader's admin port.

Segments are shown for clusters with admin URLs (brokerd only). The functions raise GatewayError.
"""

from dataclasses import dataclass
from typing import Any

from console.messages.masking import rounded_size
from monitoring.gateway.gateway import for_cluster
from monitoring.models import Cluster
from monitoring.views.rows import PartitionRow

PAGE = 100
KINDS = ("offset", "time", "batches")


@dataclass(frozen=True, slots=True)
class Bar:
    """A segment in the bar of the partition's offsets; `x` and `width` are in percent."""

    base_offset: int
    x: float
    width: float
    active: bool


def segments(cluster: Cluster, row: PartitionRow) -> list[dict[str, Any]]:
    """The segments of a partition, oldest first."""
    with for_cluster(cluster) as gateway:
        response = gateway.broker_admin.segments(row.leader, row.topic, row.partition)
    found: list[dict[str, Any]] = response["segments"]
    return found


def files(segment: dict[str, Any]) -> list[dict[str, Any]]:
    """The files of a segment, the log first; index files have the number of their entries."""
    counts = {"index": segment["index_entries"], "timeindex": segment["time_index_entries"]}
    order = ["log", "index", "timeindex"]

    def place(file: dict[str, Any]) -> tuple[int, str]:
        suffix = file["name"].rpartition(".")[2]
        return (order.index(suffix) if suffix in order else len(order), file["name"])

    response = sorted(segment["files"], key=place)
    return [file | {"entries": counts.get(file["name"].rpartition(".")[2])} for file in response]


def entries(
    cluster: Cluster, row: PartitionRow, base_offset: int, kind: str, start: int
) -> dict[str, Any]:
    """One page of a segment: index entries from number `start`, or batches from that position."""
    where = (row.leader, row.topic, row.partition, base_offset)
    with for_cluster(cluster) as gateway:
        if kind == "batches":
            return gateway.broker_admin.batches(*where, start, PAGE)
        return gateway.broker_admin.index(*where, kind, start, PAGE)


def with_rounded_sizes(segment: dict[str, Any]) -> dict[str, Any]:
    """A segment for users who see masked records: exact sizes could reveal masked data."""
    files = [file | {"size_bytes": rounded_size(file["size_bytes"])} for file in segment["files"]]
    return segment | {"size_bytes": rounded_size(segment["size_bytes"]), "files": files}


def without_positions(found: dict[str, Any]) -> dict[str, Any]:
    """A page of entries for users who see masked records: positions reveal the sizes of batches."""
    hidden = {"position_bytes": None}
    return found | {
        "entries": [each | hidden for each in found.get("entries", ())],
        "batches": [
            each | hidden | {"size_bytes": rounded_size(each["size_bytes"])}
            for each in found.get("batches", ())
        ],
    }


def bars(found: list[dict[str, Any]]) -> list[Bar]:
    """The bar of segments, to scale, with a minimum width."""
    if not found:
        return []
    first, last = found[0]["base_offset"], found[-1]["next_offset"]
    span = max(1, last - first)
    return [
        Bar(
            base_offset=s["base_offset"],
            x=round(100 * (s["base_offset"] - first) / span, 3),
            width=max(0.3, round(100 * (s["next_offset"] - s["base_offset"]) / span, 3)),
            active=s["active"],
        )
        for s in found
    ]
